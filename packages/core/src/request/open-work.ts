/** Tracks everything that a host is currently doing. Closing the host cancels it and waits until it has ended. */

import { setMaxListeners } from "node:events";
import { HostError } from "../errors.ts";
import { type Member, MemberList } from "./member-list.ts";

/** Work that was counted by `begin`. */
export interface BegunWork {
  readonly signal: AbortSignal;
  /** Aborts `signal`. Absent if other work shares the signal. */
  readonly stop?: Pick<AbortController, "abort">;
  readonly end: () => void;
}

type StoppableWork = Required<BegunWork> & Member;

/** The running work of one host. After `close`, no work can begin. */
export class OpenWork {
  readonly #closing = new AbortController();
  /** How much work runs now. */
  #running = 0;
  /** The work that has a signal of its own. */
  readonly #stoppable = new MemberList<StoppableWork>();
  readonly #onIdle: (() => void)[] = [];
  /** All work whose caller gave no signal shares this. */
  readonly #withoutSignal: BegunWork = { signal: this.#closing.signal, end: () => this.#end() };

  constructor() {
    setMaxListeners(0, this.#closing.signal);
  }

  /** A signal that is aborted when the host is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Runs `work` with a signal that is aborted when the caller's signal is aborted or the host is closed.
   *
   * @throws HostError `usage` once the host is closed
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const running = this.#count(work, signal);
    // If the caller awaits the promise only later, Node would report an unhandled rejection and end the process.
    running.catch(() => {});
    return running;
  }

  /** @throws HostError `usage` once the host is closed */
  refuseIfClosed(): void {
    if (this.#closing.signal.aborted) throw new HostError("usage", "this host has been closed");
  }

  /**
   * Counts work that begins now. Its signal is aborted when the caller's signal is aborted or the host is closed. The
   * work must begin with `refuseIfClosed`, and the caller must call `end` when it has ended.
   *
   * @param stop What aborts `signal`, if the caller lets the host abort it.
   * @param needsOwn Whether the work needs a signal of its own, also if the caller gives none.
   */
  begin(signal?: AbortSignal, stop?: Pick<AbortController, "abort">, needsOwn = false): BegunWork {
    this.#running += 1;
    // A signal of its own for each request would double the memory of small calls.
    if (signal === undefined && !needsOwn) return this.#withoutSignal;
    if (signal !== undefined && stop !== undefined) return this.#untilStopped(signal, stop);
    const own = new AbortController();
    if (signal === undefined) return this.#untilStopped(own.signal, own);
    const abort = (): void => own.abort(signal.reason);
    if (signal.aborted) abort();
    // Allows any number of listeners, because many requests may share one signal.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", abort, { once: true });
    return this.#untilStopped(own.signal, own, () => signal.removeEventListener("abort", abort));
  }

  /** Cancels all running work. Resolves when all of it has ended. */
  async close(): Promise<void> {
    const reason = new HostError("cancelled", "the host was closed");
    this.#closing.abort(reason);
    for (const { stop } of this.#stoppable.all()) stop.abort(reason);
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  async #count<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = this.begin(signal);
    try {
      this.refuseIfClosed();
      return await work(begun.signal);
    } finally {
      begun.end();
    }
  }

  #untilStopped(signal: AbortSignal, stop: Pick<AbortController, "abort">, leave?: () => void): BegunWork {
    const begun: StoppableWork = {
      slotNumber: 0,
      signal,
      stop,
      end: () => {
        leave?.();
        this.#stoppable.remove(begun);
        this.#end();
      },
    };
    this.#stoppable.add(begun);
    return begun;
  }

  #end(): void {
    this.#running -= 1;
    if (this.#running === 0) for (const resolve of this.#onIdle) resolve();
  }
}
