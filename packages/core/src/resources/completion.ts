/** Completes arguments of prompts and variables of resource templates, with values that the server suggests. */

import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { Connection } from "../server/connection.ts";
import { hasUnseen } from "../text/unseen.ts";

/** The prompt or resource template whose arguments can be completed. */
export type Completable =
  | { readonly kind: "prompt"; readonly server: string; readonly prompt: string }
  | { readonly kind: "template"; readonly server: string; readonly uriTemplate: string };

/** A request for values that complete one argument of a prompt or one variable of a resource template. */
export interface CompletionRequest {
  readonly of: Completable;
  /** The name of the argument or variable, and its text so far. */
  readonly name: string;
  readonly value: string;
  /** The values that the user has already given to the other arguments. */
  readonly given?: Readonly<Record<string, string>>;
}

/** How to reach the server, and how long to wait for its answer. */
export interface CompletionOptions {
  readonly server: { ready(signal?: AbortSignal): Promise<Pick<Connection, "capabilities" | "complete">> };
  readonly signal?: AbortSignal;
  /** Timeout of the request in milliseconds. */
  readonly timeout?: number;
}

const mostValues = 100;
const longestValue = 1000;
const longestWritten = 10_000;

/**
 * Asks the server for values that complete the argument. Rejects only with `cancelled`. After any other failure,
 * resolves with an empty list.
 */
export async function completeArgument(
  { of, name, value, given = {} }: CompletionRequest,
  { server, signal, timeout = 5000 }: CompletionOptions,
): Promise<readonly string[]> {
  if (value.length > longestWritten) return [];
  try {
    const client = await server.ready(signal);
    if (!isObject(client.capabilities["completions"])) return [];
    const params = {
      ref:
        of.kind === "prompt" ? { type: "ref/prompt", name: of.prompt } : { type: "ref/resource", uri: of.uriTemplate },
      argument: { name, value },
      context: Object.keys(given).length > 0 ? { arguments: given } : undefined,
    };
    const { values } = await client.complete(params, { signal, timeout, total: timeout });
    return [...new Set(values.slice(0, mostValues).filter(isPlain))];
  } catch (error) {
    if (signal?.aborted) throw new HostError("cancelled", "the completion was cancelled", { cause: error });
    return [];
  }
}

/**
 * Whether Fairlead may offer a suggestion. It must not contain invisible characters, because Fairlead inserts it into
 * the user's text and sends it unchanged.
 */
function isPlain(value: string): boolean {
  return value !== "" && value.length <= longestValue && !hasUnseen(value);
}
