/** A host for tests of the door: it has one server, and sends the events that a test wants. */

import { HostError } from "@fairlead/core/errors";
import type { ConsoleEvent, Snapshot } from "../../src/protocol/events.ts";
import type { ConsoleSource, RunOptions } from "../../src/server/console-source.ts";

export interface RunCommand {
  readonly verb: string;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

export class ScriptedSource implements ConsoleSource {
  /** The commands that have begun. */
  readonly commands: RunCommand[] = [];
  /** How often a snapshot was read. */
  snapshots = 0;
  isDisposed = false;
  readonly #listeners = new Set<(event: ConsoleEvent) => void>();
  readonly #answer: (command: RunCommand) => unknown;

  /** @param answer Answers commands. Default: with an empty object. */
  constructor(answer: (command: RunCommand) => unknown = () => ({})) {
    this.#answer = answer;
  }

  emit(event: ConsoleEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async snapshot(): Promise<Snapshot> {
    this.snapshots += 1;
    const { version, workspace } = { version: "1.2.3", workspace: { root: "/work", isTrusted: true, why: "test" } };
    return { version, now: 0, workspace, servers: [], questions: [], calls: [], problems: [] };
  }

  // The door passes on what it gets, whatever its type.
  async run(verb: string, params: unknown, { signal }: RunOptions): Promise<never> {
    const command = { verb, params, signal };
    this.commands.push(command);
    const answer = await this.#answer(command);
    if (answer === undefined) throw new HostError("usage", `${verb} is not a command`);
    return answer as never;
  }

  onEvent(listener: (event: ConsoleEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
  }
}

export function note(text: string): ConsoleEvent {
  return { type: "note", text };
}
