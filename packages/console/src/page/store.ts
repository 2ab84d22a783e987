/**
 * Everything that the server has told the page, as values that components subscribe to. The page states nothing that it
 * was not told: before the first snapshot there are no servers, not "0 servers".
 */

import type { About, ConsoleEvent, Snapshot } from "../protocol/events.ts";
import type { CallRow, Question, ServerRow } from "../protocol/rows.ts";
import { Flusher, Live, Rows } from "./live.ts";
import type { StreamState } from "./stream.ts";

/** How a question ended. `by`: where the answer was given; absent if no answer came in time. */
export interface Answered {
  readonly at: number;
  readonly by?: string | undefined;
  readonly answer?: string | undefined;
}

/** Calls that the page keeps. The history has all of them. */
const mostCalls = 200;
/** Ended questions that the page keeps, so that an open card can say who answered. */
const mostEnded = 50;

type EventOf<T extends ConsoleEvent["type"]> = Extract<ConsoleEvent, { readonly type: T }>;

export class Store {
  readonly flusher: Flusher = new Flusher();
  readonly connection: Live<StreamState> = new Live<StreamState>("connecting", this.flusher);
  /** Since when there is no connection, by this browser's clock. */
  readonly lostSince: Live<number | undefined> = new Live<number | undefined>(undefined, this.flusher);
  /** Undefined until the first snapshot. */
  readonly about: Live<About | undefined> = new Live<About | undefined>(undefined, this.flusher);
  readonly servers: Rows<ServerRow> = new Rows<ServerRow>(this.flusher);
  /** Newest first. */
  readonly calls: Rows<CallRow> = new Rows<CallRow>(this.flusher);
  /** Open questions, oldest first. */
  readonly questions: Rows<Question> = new Rows<Question>(this.flusher);
  /** Changes every second, for ages and deadlines. */
  readonly second: Live<number> = new Live(0, this.flusher);
  /** The heading of the view that is shown. */
  readonly viewTitle: Live<string> = new Live("", this.flusher);
  readonly #ended = new Map<string, { readonly question: Question | undefined; readonly answered: Answered }>();
  readonly #listeners = new Map<string, Set<(event: never) => void>>();
  /** The server's clock minus this browser's. */
  #ahead = 0;

  constructor() {
    setInterval(() => this.second.set(this.second.value + 1), 1000);
  }

  /** The time by the server's clock, as all times of rows. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  /** How a question ended, with the question. Undefined if it is open, or was never seen here. */
  ended(id: string): { readonly question: Question | undefined; readonly answered: Answered } | undefined {
    return this.#ended.get(id);
  }

  /**
   * Calls `listener` with each event of a type as it arrives, also while the tab is hidden. Views collect what they show,
   * and draw it with a `Live` value. Returns the function that stops this.
   */
  onEvent<T extends ConsoleEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  setConnection(state: StreamState): void {
    this.connection.set(state);
    this.lostSince.set(state === "lost" ? (this.lostSince.value ?? Date.now()) : undefined);
    this.flusher.flush();
  }

  apply(event: ConsoleEvent): void {
    this.#change(event);
    for (const listener of this.#listeners.get(event.type) ?? []) (listener as (event: ConsoleEvent) => void)(event);
  }

  #change(event: ConsoleEvent): void {
    switch (event.type) {
      case "snapshot":
        this.#replace(event.snapshot);
        break;
      case "about":
        this.about.set(event.about);
        break;
      case "servers":
        this.servers.replace(event.servers.map((server) => [server.name, server]));
        break;
      case "server":
        this.servers.put(event.server.name, event.server);
        break;
      case "call":
        this.calls.put(event.call.id, event.call, { end: "first", most: mostCalls });
        break;
      case "question":
        this.questions.put(event.question.id, event.question);
        break;
      case "answered":
        this.#end(event);
        break;
      // Views that show these subscribe to the event.
      case "frames":
      case "log":
      case "catalog":
      case "policy":
      case "turn":
      case "view_stopped":
      case "note":
        break;
    }
  }

  #replace({ servers, questions, calls, now, ...about }: Snapshot): void {
    this.#ahead = now - Date.now();
    this.about.set(about);
    this.servers.replace(servers.map((server) => [server.name, server]));
    this.questions.replace(questions.map((question) => [question.id, question]));
    this.calls.replace(calls.map((call) => [call.id, call]));
    this.flusher.flush();
  }

  #end({ id, by, answer }: EventOf<"answered">): void {
    this.#ended.set(id, { question: this.questions.get(id), answered: { at: this.now(), by, answer } });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
    this.questions.remove(id);
  }
}
