/** A source whose state, events and answers a test writes. The real door serves it. */

import { HostError } from "@fairlead/core/errors";
import type { Params, Result, Verb } from "../../../src/protocol/commands.ts";
import type { ConsoleEvent, Snapshot } from "../../../src/protocol/events.ts";
import type { ConsoleSource } from "../../../src/server/console-source.ts";

type Handlers = { [V in Verb]?: (params: Params<V>) => Result<V> | Promise<Result<V>> };

export class ScriptedSource implements ConsoleSource {
  /** What the next page sees first. Events do not change it; the test does. */
  state: Snapshot;
  readonly handlers: Handlers;
  /** The commands that pages have sent. */
  readonly commands: (readonly [verb: Verb, params: unknown])[] = [];
  #held: Promise<void> | undefined;
  readonly #listeners = new Set<(event: ConsoleEvent) => void>();

  constructor(state: Partial<Snapshot> = {}, handlers: Handlers = {}) {
    this.state = {
      version: "0.3.0",
      now: Date.now(),
      workspace: { root: "/home/ada/projects/notes", isTrusted: true, why: "you have trusted this folder" },
      servers: [],
      questions: [],
      calls: [],
      problems: [],
      ...state,
    };
    this.handlers = handlers;
  }

  /** Keeps pages waiting for their first event, until the returned function is called. */
  hold(): () => void {
    let tell = (): void => {};
    this.#held = new Promise((resolve) => {
      tell = resolve;
    });
    return () => tell();
  }

  async snapshot(): Promise<Snapshot> {
    await this.#held;
    return { ...this.state, now: Date.now() };
  }

  async run<V extends Verb>(verb: V, params: Readonly<Record<keyof Params<V>, unknown>>): Promise<Result<V>> {
    this.commands.push([verb, params]);
    const handler = this.handlers[verb];
    if (handler === undefined) throw new HostError("internal", `the test has no answer for ${verb}`);
    return handler(params as Params<V>);
  }

  onEvent(listener: (event: ConsoleEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: ConsoleEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
