/** Hints as notifications of PostgreSQL. Commits with a notification wait for each other, so several hints share one. */

import type { Clock } from "@fairlead/core";
import type { Hints, HintTopic } from "../hints.ts";
import type { RunStatement } from "./database.ts";

/** The channel of all notifications: the topic, a colon, and the id or nothing. */
export const hintChannel = "fairlead";
/** Milliseconds between two commits with notifications. The first one does not wait. */
const interval = 100;
/** If more ids of a topic wait, they become one hint without an id. */
const mostIds = 50;

export class PostgresHints implements Hints {
  readonly #run: RunStatement;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Set<(id: string | undefined) => void>>();
  readonly #waiting = new Map<HintTopic, Set<string>>();
  #isListening = false;
  #sending: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(run: RunStatement, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
  }

  send(topic: HintTopic, id: string): void {
    const ids = this.#waiting.get(topic) ?? new Set();
    this.#waiting.set(topic, ids.add(id));
    if (this.#cancelTimer === undefined) this.#flush();
  }

  listen(topic: HintTopic, onHint: (id: string | undefined) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(onHint));
    if (this.#isListening) queueMicrotask(() => listeners.has(onHint) && onHint(undefined));
    return () => {
      listeners.delete(onHint);
    };
  }

  /** The direct connection listens now. Whatever was sent before may be missed. */
  startListening(): void {
    this.#isListening = true;
    for (const listeners of this.#listeners.values()) for (const onHint of listeners) onHint(undefined);
  }

  /** A notification has come. */
  receive(payload: string): void {
    const at = payload.indexOf(":");
    const id = payload.slice(at + 1);
    for (const onHint of this.#listeners.get(payload.slice(0, at)) ?? []) onHint(id === "" ? undefined : id);
  }

  /** Sends what waits. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    await this.#sending;
    if (this.#waiting.size > 0) this.#flush();
    this.#cancelTimer?.();
    await this.#sending;
  }

  #flush(): void {
    const messages = [...this.#waiting].flatMap(([topic, ids]) =>
      ids.size > mostIds ? [`${topic}:`] : [...ids].map((id) => `${topic}:${id}`),
    );
    this.#waiting.clear();
    this.#sending = this.#notify(messages);
    this.#cancelTimer = this.#clock.after(interval, () => void this.#flushAgain(), { background: true });
  }

  async #flushAgain(): Promise<void> {
    await this.#sending;
    this.#cancelTimer = undefined;
    if (this.#waiting.size > 0) this.#flush();
  }

  /** A hint that cannot be sent is lost, as one on its way could be: its readers read again when they are connected again. */
  async #notify(messages: readonly string[]): Promise<void> {
    const statement = "select pg_notify($1, message) from unnest($2::text[]) as message";
    await this.#run(statement, [hintChannel, messages]).catch(() => undefined);
  }
}
