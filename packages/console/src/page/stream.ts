/**
 * Receives the events of the server, and misses none: after a break it asks for what came after the last event it has.
 * `EventSource` cannot send the session's header, so this reads the stream itself. The page stays usable while thousands
 * of events arrive: after 8 ms of reading it lets the browser draw and take input.
 */

import type { ConsoleEvent } from "../protocol/events.ts";

/**
 * `lost`: no connection for longer than two seconds, so what the page shows may be out of date. `closed`: the console was
 * closed, or the session has ended; the page does not try again. `resting`: the tab is hidden.
 */
export type StreamState = "connecting" | "live" | "lost" | "resting" | "closed" | "refused";

export interface StreamOptions {
  readonly bearer: string;
  readonly onEvent: (event: ConsoleEvent, id: number) => void;
  readonly onState: (state: StreamState) => void;
}

/** Milliseconds of reading after which the browser gets its turn. */
const budget = 8;
/** The page says that it is not connected after this time without a connection. */
const lostAfter = 2000;
const firstPause = 250;
const longestPause = 8000;
/** The server sends a line at least every 15 seconds. */
const silence = 40_000;
const hiddenTime = 30_000;
/** A browser has six connections to a server for all tabs, so only one hidden tab keeps its stream, for the title. */
const hiddenLock = "fairlead hidden tab";

export class EventStream {
  readonly #options: StreamOptions;
  #lastId: number | undefined;
  #state: StreamState = "connecting";
  #abort: AbortController | undefined;
  #pause = firstPause;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lostTimer: ReturnType<typeof setTimeout> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  /** Gives up the lock of the hidden tab that keeps its stream. */
  #release: (() => void) | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** The number of the last event. */
  get lastId(): number | undefined {
    return this.#lastId;
  }

  start(): void {
    document.addEventListener("visibilitychange", () => this.#onVisibility());
    this.#expectSoon();
    void this.#connect();
  }

  /** Tries to connect now, without the rest of the pause. */
  tryNow(): void {
    if (this.#abort !== undefined || this.#isOver()) return;
    clearTimeout(this.#retry);
    void this.#connect();
  }

  #isOver(): boolean {
    return this.#state === "closed" || this.#state === "refused";
  }

  #set(state: StreamState): void {
    if (this.#isOver() || state === this.#state) return;
    this.#state = state;
    this.#options.onState(state);
  }

  #expectSoon(): void {
    this.#lostTimer ??= setTimeout(() => this.#set("lost"), lostAfter);
  }

  async #connect(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      await this.#read(abort);
    } catch {
      // A broken connection. Which way it broke changes nothing: the stream resumes after its last event.
    }
    if (this.#abort !== abort) return;
    this.#abort = undefined;
    if (this.#isOver() || this.#state === "resting") return;
    this.#expectSoon();
    // With the same pause, all tabs would come back in the same moment.
    const wait = this.#pause * (0.5 + Math.random());
    this.#pause = Math.min(longestPause, this.#pause * 2);
    this.#retry = setTimeout(() => void this.#connect(), wait);
  }

  async #read(abort: AbortController): Promise<void> {
    const { bearer, onEvent } = this.#options;
    const response = await fetch("/api/events", {
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(this.#lastId !== undefined && { "last-event-id": String(this.#lastId) }),
      },
      signal: abort.signal,
    });
    if (response.status === 401) this.#set("refused");
    if (!response.ok || response.body === null) return;
    clearTimeout(this.#lostTimer);
    this.#lostTimer = undefined;
    this.#pause = firstPause;
    this.#set("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let begin = performance.now();
    for (;;) {
      const dead = setTimeout(() => abort.abort(), silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(dead));
      if (done) return;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const read = readFrame(frame);
        if (read?.type === "closed") this.#set("closed");
        if (read?.type === "event") {
          onEvent(read.event, read.id);
          this.#lastId = read.id;
        }
        if (performance.now() - begin < budget) continue;
        await turn();
        if (abort.signal.aborted) return;
        begin = performance.now();
      }
      if (this.#isOver()) return;
    }
  }

  #onVisibility(): void {
    clearTimeout(this.#rest);
    if (document.hidden) this.#rest = setTimeout(() => this.#restUnlessOnly(), hiddenTime);
    else this.#wake();
  }

  #wake(): void {
    this.#release?.();
    this.#release = undefined;
    if (this.#state !== "resting") return;
    this.#set("connecting");
    this.#pause = firstPause;
    this.#expectSoon();
    void this.#connect();
  }

  /** Closes the stream of the hidden tab, unless no other hidden tab has one. */
  #restUnlessOnly(): void {
    void navigator.locks.request(hiddenLock, { ifAvailable: true }, (lock) => {
      if (!document.hidden || this.#isOver()) return undefined;
      if (lock !== null) return new Promise<void>((resolve) => (this.#release = resolve));
      this.#set("resting");
      clearTimeout(this.#retry);
      clearTimeout(this.#lostTimer);
      this.#lostTimer = undefined;
      this.#abort?.abort();
      return undefined;
    });
  }
}

type Frame =
  | { readonly type: "event"; readonly id: number; readonly event: ConsoleEvent }
  | { readonly type: "closed" }
  | undefined;

/** Reads one event of the stream. Comment lines, which keep the connection open, give undefined. */
function readFrame(text: string): Frame {
  let id: number | undefined;
  let data: string | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) id = Number(line.slice(4));
    else if (line.startsWith("data: ")) data = line.slice(6);
    else if (line === "event: closed") return { type: "closed" };
  }
  if (id === undefined || data === undefined) return undefined;
  return { type: "event", id, event: JSON.parse(data) as ConsoleEvent };
}

/** Lets the browser draw and take input. A message comes sooner than the shortest timer. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
