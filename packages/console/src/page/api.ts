/** Sends the page's commands. A command that is sent twice, after a connection broke, runs once: its key says so. */

import type { CommandFailure, Params, Result, Verb } from "../protocol/commands.ts";

/** Why a command has failed, in the words of the server, and what to do about it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: string;
  readonly next: string | undefined;

  constructor({ code, message, next }: CommandFailure["error"]) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

/** Milliseconds before the second and the third try of a command that did not reach the server. */
const retries = [400, 2000];

export class Api {
  readonly #bearer: string;
  readonly #onRefused: () => void;

  /** @param onRefused Called if the server no longer accepts the session. */
  constructor(bearer: string, onRefused: () => void) {
    this.#bearer = bearer;
    this.#onRefused = onRefused;
  }

  /** @throws CommandError if the command fails; an `AbortError` if `signal` is aborted */
  async run<V extends Verb>(verb: V, params: Params<V>, signal?: AbortSignal): Promise<Result<V>> {
    const key = crypto.randomUUID();
    for (const wait of [...retries, undefined]) {
      try {
        return await this.#send(verb, params, key, signal);
      } catch (error) {
        if (error instanceof CommandError || signal?.aborted === true) throw error;
        if (wait === undefined) break;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    throw new CommandError({
      code: "unreachable",
      message: "fairlead does not answer",
      next: "see whether the terminal with fairlead console is still open",
    });
  }

  async #send<V extends Verb>(verb: V, params: Params<V>, key: string, signal?: AbortSignal): Promise<Result<V>> {
    const response = await fetch(`/api/${verb}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#bearer}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(params),
      ...(signal && { signal }),
    });
    if (response.status === 401) this.#onRefused();
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Result<V>;
    throw new CommandError(failureIn(text) ?? { code: "internal", message: `status ${response.status}` });
  }
}

function failureIn(text: string): CommandFailure["error"] | undefined {
  try {
    return (JSON.parse(text) as CommandFailure).error;
  } catch {
    return undefined;
  }
}
