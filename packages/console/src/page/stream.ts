/**
 * Receives the events of the server, and misses none: after a break it asks for what came after the last event it has.
 * `EventSource` cannot send the session's header, so this reads the stream itself. The page stays usable while thousands
 * of events arrive: after 8 ms of reading it lets the browser draw and take input.
 *
 * A browser has six connections to a server for all its tabs, and a stream takes one for good. So the tabs of one console
 * share a stream: the tab that holds a lock of the browser leads, which means that it reads the stream and passes the
 * events on. The others fetch what is missing when they begin, and whenever an event that they are passed is not the
 * next one.
 */

import type { ConsoleEvent } from "../protocol/events.ts";

/**
 * `lost`: no connection for longer than two seconds, so what the page shows may be out of date. `closed`: the console was
 * closed, or the session has ended; the page does not try again.
 */
export type StreamState = "connecting" | "live" | "lost" | "closed" | "refused";

export interface StreamOptions {
  readonly bearer: string;
  /** The name that the tabs of one console have in common, and no other page knows. */
  readonly channel: string;
  readonly onEvent: (event: ConsoleEvent, id: number) => void;
  readonly onState: (state: StreamState) => void;
}

/** What tabs tell each other. */
type Message =
  /** From the tab that leads: a piece of the stream. Without an event it says that this tab still reads. */
  | { readonly kind: "piece"; readonly frames: readonly string[] }
  /** From the tab that leads: the state of its connection, and the number of its last event. */
  | { readonly kind: "state"; readonly state: StreamState; readonly last: number | undefined }
  /** Asks the tab that leads for its state. */
  | { readonly kind: "ask" }
  /** Asks the tab that leads to connect now: the person does not want to wait. */
  | { readonly kind: "try" };

/** Milliseconds of reading after which the browser gets its turn. */
const budget = 8;
/** The page says that it is not connected after this time without a connection. */
const lostAfter = 2000;
const firstPause = 250;
const longestPause = 8000;
/** The server sends a line at least every 15 seconds. */
const silence = 40_000;

export class EventStream {
  readonly #options: StreamOptions;
  readonly #name: string;
  readonly #channel: BroadcastChannel;
  #lastId: number | undefined;
  #state: StreamState = "connecting";
  /** Gives up the lead. Undefined while another tab leads. */
  #release: (() => void) | undefined;
  /** The number of the latest event that another tab has told of. */
  #newest = 0;
  #isCatchingUp = false;
  /** The end of the pieces that were passed on: they are taken one after the other. */
  #taken: Promise<void> = Promise.resolve();
  /** Expects the tab that leads to say something. */
  #watch: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;
  #pause = firstPause;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lostTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#name = `fairlead events ${options.channel}`;
    this.#channel = new BroadcastChannel(this.#name);
  }

  /** The number of the last event. */
  get lastId(): number | undefined {
    return this.#lastId;
  }

  start(): void {
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    // A tab that is shown serves the others better: browsers let hidden ones wait.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#release?.();
    });
    this.#expectSoon();
    void this.#takeTurns();
  }

  /** Tries to connect now, without the rest of the pause. */
  tryNow(): void {
    if (this.#isOver()) return;
    if (this.#release === undefined) {
      this.#tell({ kind: "try" });
      void this.#catchUp();
    } else if (this.#abort === undefined) {
      clearTimeout(this.#retry);
      void this.#connect();
    }
  }

  /** Leads whenever no other tab does. */
  async #takeTurns(): Promise<void> {
    const { locks } = navigator;
    const lead = (): Promise<boolean> => this.#lead();
    const isFirst = await locks.request(this.#name, { ifAvailable: true }, (lock) => lock !== null && lead());
    if (!isFirst) {
      this.#expectLeader();
      this.#tell({ kind: "ask" });
      void this.#catchUp();
    }
    while (!this.#isOver()) await locks.request(this.#name, lead);
  }

  /** Resolves when another tab may lead. */
  #lead(): Promise<boolean> {
    if (this.#isOver()) return Promise.resolve(true);
    clearTimeout(this.#watch);
    return new Promise((resolve) => {
      this.#release = () => {
        this.#release = undefined;
        this.#expectLeader();
        resolve(true);
      };
      if (this.#abort === undefined) {
        clearTimeout(this.#retry);
        void this.#connect();
      }
      this.#tellState();
    });
  }

  #tell(message: Message): void {
    this.#channel.postMessage(message);
  }

  #tellState(): void {
    this.#tell({ kind: "state", state: this.#state, last: this.#lastId });
  }

  #hear(message: Message): void {
    if (this.#isOver()) return;
    const isLeading = this.#release !== undefined;
    if (message.kind === "ask" || message.kind === "try") {
      if (isLeading && message.kind === "try") this.tryNow();
      if (isLeading) this.#tellState();
      return;
    }
    if (message.kind === "state" && message.state === "closed") this.#set("closed");
    // From the tab that has led until now.
    if (isLeading || this.#isOver()) return;
    this.#expectLeader();
    this.#endConnection();
    if (message.kind === "piece") {
      const { frames } = message;
      this.#taken = this.#taken
        .then(() => this.#take(frames))
        .then(() => {
          if (this.#isBehind()) void this.#catchUp();
          else this.#set("live");
        });
      return;
    }
    const { state, last = 0 } = message;
    this.#newest = Math.max(this.#newest, last);
    // Another tab's session is not this one's.
    if (state === "lost" || (state === "live" && this.#lastId !== undefined)) this.#set(state);
    if (this.#isBehind()) void this.#catchUp();
  }

  /** A tab that leads and says nothing may be stuck: then this one reads the stream itself, until it hears from it again. */
  #expectLeader(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      if (this.#abort === undefined) void this.#connect();
    }, silence);
  }

  #isOver(): boolean {
    return this.#state === "closed" || this.#state === "refused";
  }

  #set(state: StreamState): void {
    if (state === "live") {
      clearTimeout(this.#lostTimer);
      this.#lostTimer = undefined;
    }
    if (this.#isOver() || state === this.#state) return;
    this.#state = state;
    if (this.#release !== undefined) this.#tellState();
    if (this.#isOver()) {
      this.#endConnection();
      this.#release?.();
      clearTimeout(this.#watch);
      clearTimeout(this.#lostTimer);
    }
    this.#options.onState(state);
  }

  #expectSoon(): void {
    this.#lostTimer ??= setTimeout(() => this.#set("lost"), lostAfter);
  }

  #endConnection(): void {
    clearTimeout(this.#retry);
    this.#abort?.abort();
    this.#abort = undefined;
  }

  async #connect(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#expectSoon();
    try {
      await this.#read(abort);
    } catch {
      // A broken connection. Which way it broke changes nothing: the stream resumes after its last event.
    }
    if (this.#abort !== abort) return;
    this.#abort = undefined;
    if (this.#isOver()) return;
    this.#expectSoon();
    this.#retry = setTimeout(() => void this.#connect(), this.#nextPause());
  }

  /** With the same pause, all tabs would come back in the same moment. */
  #nextPause(): number {
    const wait = this.#pause * (0.5 + Math.random());
    this.#pause = Math.min(longestPause, this.#pause * 2);
    return wait;
  }

  async #read(abort: AbortController): Promise<void> {
    const response = await this.#fetch("/api/events", abort.signal);
    if (response === undefined || response.body === null) return;
    this.#pause = firstPause;
    this.#set("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const dead = setTimeout(() => abort.abort(), silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(dead));
      if (done) return;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop() ?? "";
      if (frames.length === 0) continue;
      if (this.#release !== undefined) this.#tell({ kind: "piece", frames });
      await this.#take(frames, { isOwn: true, signal: abort.signal });
      if (abort.signal.aborted || this.#isOver()) return;
    }
  }

  /** Requests what came after the last event. Returns undefined if the server does not answer with it. */
  async #fetch(path: string, signal?: AbortSignal): Promise<Response | undefined> {
    const response = await fetch(path, {
      headers: {
        authorization: `Bearer ${this.#options.bearer}`,
        ...(this.#lastId !== undefined && { "last-event-id": String(this.#lastId) }),
      },
      ...(signal && { signal }),
    });
    if (response.status === 401) this.#set("refused");
    return response.ok ? response : undefined;
  }

  /** Fetches the events that the tab which leads has passed on too early for this one. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp || this.#isOver()) return;
    this.#isCatchingUp = true;
    const hasEvents = await this.#fetchMissing().catch(() => false);
    this.#isCatchingUp = false;
    if (hasEvents) {
      this.#pause = firstPause;
      this.#set("live");
      if (this.#isBehind()) void this.#catchUp();
    } else setTimeout(() => void this.#catchUp(), this.#nextPause());
  }

  async #fetchMissing(): Promise<boolean> {
    const newest = this.#newest;
    const response = await this.#fetch("/api/catch-up");
    if (response === undefined) return false;
    const frames = (await response.text()).split("\n\n");
    // After the pieces that were passed on before: no two are taken at a time.
    this.#taken = this.#taken.then(() => this.#take(frames, { isOwn: true }));
    await this.#taken;
    // The answer has everything that there was.
    if (this.#newest === newest) this.#newest = this.#lastId ?? 0;
    return true;
  }

  /** Whether there are events that this tab does not have, and that are not passed on any more. */
  #isBehind(): boolean {
    return this.#release === undefined && this.#newest > (this.#lastId ?? -1);
  }

  /** Takes the events that follow the last one. `isOwn`: they come from the server, and not from another tab. */
  async #take(frames: readonly string[], { isOwn = false, signal }: TakeOptions = {}): Promise<void> {
    let begin = performance.now();
    for (const frame of frames) {
      const read = readFrame(frame);
      if (read?.type === "closed") this.#set("closed");
      if (read?.type === "event") this.#takeEvent(read, isOwn);
      if (performance.now() - begin < budget) continue;
      await turn();
      if (signal?.aborted === true) return;
      begin = performance.now();
    }
  }

  #takeEvent({ id, event }: { readonly id: number; readonly event: ConsoleEvent }, isOwn: boolean): void {
    this.#newest = Math.max(this.#newest, id);
    const last = this.#lastId;
    const isNext = event.type === "snapshot" ? isOwn || last === undefined || id > last : id - 1 === last;
    if (!isNext) return;
    this.#options.onEvent(event, id);
    this.#lastId = id;
  }
}

interface TakeOptions {
  readonly isOwn?: boolean;
  readonly signal?: AbortSignal;
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
