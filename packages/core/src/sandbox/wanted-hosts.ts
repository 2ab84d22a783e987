/**
 * The hosts that the programs of one server want to reach and that its profile does not list: questions about them, the
 * answers, and what was refused. However many hosts a program wants, a person gets few questions, and one at a time.
 */

import { setMaxListeners } from "node:events";

/**
 * What came of a question. `yes`: a person allows the host until the program ends. `allowed`: a rule or a saved approval
 * allows it. `unanswered`: there is no answer (yet), or no person to ask.
 */
export type HostAnswer = "yes" | "allowed" | "no" | "unanswered";

/**
 * Asks about a host, as `name:port`. The question may stay open longer than the connection waits for it. With an earlier
 * answer, does not ask: returns the answer that counts now, because rules and saved approvals may have changed since.
 */
export type AskForHost = (host: string, signal: AbortSignal, earlier?: HostAnswer) => Promise<HostAnswer>;

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
/** How many questions one program may cause, with those that are repeated because no answer came. */
const mostQuestions = 200;
/** Milliseconds after which a question without an answer may be asked again: the first time, and at most. */
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
  given?: HostAnswer;
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
   * later counts for the next connection. A yes and a no count until the program ends, or the rules decide otherwise.
   */
  async allows(host: string, late: AbortSignal): Promise<boolean> {
    if (this.#ask === undefined || this.#over.signal.aborted) return false;
    const earlier = this.#asked.get(host);
    const isGiven = earlier?.given !== undefined && earlier.given !== "unanswered";
    const answer = isGiven ? this.#checked(host, earlier, this.#ask) : this.#answerFor(host, this.#ask);
    if (answer === undefined) return false;
    const given = await Promise.race([answer, ended(late)]);
    return given === "yes" || given === "allowed";
  }

  forget(host: string): void {
    this.#asked.delete(host);
  }

  close(): void {
    this.#over.abort();
    this.#hosts.end(this);
  }

  /** The earlier answer, if it still counts. Otherwise that to a new question. */
  async #checked(host: string, earlier: Asked, ask: AskForHost): Promise<HostAnswer | undefined> {
    const now = await ask(host, this.#over.signal, earlier.given).catch(() => "unanswered" as const);
    if (now !== "unanswered") return now;
    if (this.#asked.get(host) === earlier) this.#asked.delete(host);
    return this.#answerFor(host, ask);
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
        asked.given = given;
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
