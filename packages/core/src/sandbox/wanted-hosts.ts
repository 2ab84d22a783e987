/**
 * The hosts that the programs of one server want to reach and that its profile does not list: questions about them, the
 * answers, and what was refused. However many hosts a program wants, a person gets few questions, and one at a time.
 */

import { setMaxListeners } from "node:events";

/** What came of a question. `unanswered`: nobody has answered (yet), or nobody could be asked. */
export type HostAnswer = "yes" | "no" | "unanswered";

/** Asks about a host, as `name:port`. The question may stay open longer than the connection waits for it. */
export type AskForHost = (host: string, signal: AbortSignal) => Promise<HostAnswer>;

/** A host that a program of the server did not reach. */
export interface RefusedHost {
  /** `name:port`. */
  readonly host: string;
  readonly reason: string;
  /** Whether a yes of the user would help. */
  readonly mayAllow: boolean;
}

/** How many hosts of one program are asked about. Further ones are refused without a question. */
export const mostAskedHosts = 16;
/** How many questions one program may cause, with those that are repeated because nobody has answered. */
const mostQuestions = 200;
/** Milliseconds after which a question that nobody has answered may be asked again: the first time, and at most. */
const [firstPause, longestPause] = [1000, 60_000];
const mostRefused = 256;

/** What the programs of one server wanted. They share the questions: at most one is open. */
export class WantedHosts {
  readonly #programs = new Set<ProgramHosts>();
  readonly #refused = new Map<string, RefusedHost>();
  #isOpen: Promise<unknown> | undefined;

  /** The hosts that were refused since the server started, oldest first. */
  get refused(): readonly RefusedHost[] {
    return [...this.#refused.values()];
  }

  /** A program has started. */
  begin(ask: AskForHost | undefined): ProgramHosts {
    if (this.#programs.size === 0) this.#refused.clear();
    const program = new ProgramHosts(this, ask);
    this.#programs.add(program);
    return program;
  }

  end(program: ProgramHosts): void {
    this.#programs.delete(program);
  }

  noteRefused(refused: RefusedHost): void {
    if (this.#refused.size < mostRefused) this.#refused.set(refused.host, refused);
  }

  /** The user has allowed a host since: the running programs may try again. */
  allow(host: string): void {
    this.#refused.delete(host);
    for (const program of this.#programs) program.forget(host);
  }

  /** Runs `ask` when no other question is open. Rejects if `signal` is aborted first. */
  async oneAtATime<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    while (this.#isOpen !== undefined) await Promise.race([this.#isOpen, rejected(signal)]);
    signal.throwIfAborted();
    const asked = ask();
    const open = asked.then(
      () => undefined,
      () => undefined,
    );
    this.#isOpen = open.then(() => {
      this.#isOpen = undefined;
    });
    return asked;
  }
}

interface Asked {
  readonly answer: Promise<HostAnswer>;
  /** Milliseconds to wait before the host is asked about again. */
  readonly pause: number;
  /** When it ended without an answer, in milliseconds. */
  unansweredAt?: number;
}

/** What one program wants, until it ends. */
export class ProgramHosts {
  readonly #hosts: WantedHosts;
  readonly #ask: AskForHost | undefined;
  readonly #over = new AbortController();
  readonly #asked = new Map<string, Asked>();
  #count = 0;

  constructor(hosts: WantedHosts, ask: AskForHost | undefined) {
    this.#hosts = hosts;
    this.#ask = ask;
    // Each host that waits for its question listens.
    setMaxListeners(0, this.#over.signal);
  }

  /**
   * Whether the program may reach the host. Waits for a person's answer until `late` is aborted; an answer that comes
   * later counts for the next connection. A yes and a no count until the program ends.
   */
  async allows(host: string, late: AbortSignal): Promise<boolean> {
    if (this.#ask === undefined || this.#over.signal.aborted) return false;
    const answer = this.#answerFor(host, this.#ask);
    return answer !== undefined && (await Promise.race([answer, ended(late)])) === "yes";
  }

  forget(host: string): void {
    this.#asked.delete(host);
  }

  close(): void {
    this.#over.abort();
    this.#hosts.end(this);
  }

  #answerFor(host: string, ask: AskForHost): Promise<HostAnswer> | undefined {
    const earlier = this.#asked.get(host);
    const mayRepeat = earlier?.unansweredAt !== undefined && performance.now() - earlier.unansweredAt >= earlier.pause;
    if (earlier !== undefined && !mayRepeat) return earlier.answer;
    if ((earlier === undefined && this.#asked.size >= mostAskedHosts) || this.#count >= mostQuestions) return undefined;
    this.#count += 1;
    const { signal } = this.#over;
    const answer = this.#hosts
      .oneAtATime(() => ask(host, signal), signal)
      .catch(() => "unanswered" as const)
      .then((given) => {
        if (given === "unanswered") asked.unansweredAt = performance.now();
        return given;
      });
    const pause = earlier === undefined ? firstPause : Math.min(longestPause, 2 * earlier.pause);
    const asked: Asked = { answer, pause };
    this.#asked.set(host, asked);
    return answer;
  }
}

function ended(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function rejected(signal: AbortSignal): Promise<never> {
  return ended(signal).then(() => Promise.reject(new Error("the program has ended")));
}
