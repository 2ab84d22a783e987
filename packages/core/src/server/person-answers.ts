/**
 * Asks a person what no client of a gateway can answer, such as the person who has a console open. While there is none,
 * the server's question fails as before.
 */

import type { JsonObject } from "@fairlead/wire";

/** Asks a person a server's question: `params` of `elicitation/create`. Returns the result for the server. */
export type AskPerson = (server: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** The ways to ask a person that a host has now. */
export class PersonAnswers {
  readonly #ways = new Set<AskPerson>();

  /** Adds a way to ask. Returns the function that removes it. */
  add(ask: AskPerson): () => void {
    this.#ways.add(ask);
    return () => this.#ways.delete(ask);
  }

  /** Asks a person. Undefined if there is no person to ask, or none is asked by this method: sampling is for models. */
  ask(server: string, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> | undefined {
    const [ask] = this.#ways;
    return method === "elicitation/create" ? ask?.(server, params, signal) : undefined;
  }
}
