/** Values that an argument of a prompt or a variable of a template might take, from a server that offers to say so. */

import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { hasUnseen } from "../text/unseen.ts";

/** The prompt or resource template whose arguments can be completed. */
export type Completable =
  | { readonly kind: "prompt"; readonly server: string; readonly prompt: string }
  | { readonly kind: "template"; readonly server: string; readonly uriTemplate: string };

/** A request for values that complete one argument of a prompt or one variable of a resource template. */
export interface CompletionRequest {
  readonly of: Completable;
  /** The argument or variable, and what is written of it so far. */
  readonly name: string;
  readonly value: string;
  /** What others have been given already. */
  readonly given?: Readonly<Record<string, string>>;
}

export interface CompletionOptions {
  /** The server's client, connected. */
  readonly ready: (server: string, signal?: AbortSignal) => Promise<Pick<McpClient, "capabilities" | "complete">>;
  readonly signal?: AbortSignal;
  /** Milliseconds; who types does not wait long. */
  readonly timeout?: number;
}

const mostValues = 100;
const longestValue = 1000;
const longestWritten = 10_000;

/** Whoever shows these decides how often to ask. Rejects only with `cancelled`: what cannot be completed is typed. */
export async function completeArgument(
  { of, name, value, given = {} }: CompletionRequest,
  { ready, signal, timeout = 5000 }: CompletionOptions,
): Promise<readonly string[]> {
  if (value.length > longestWritten) return [];
  try {
    const client = await ready(of.server, signal);
    if (!isObject(client.capabilities["completions"])) return [];
    const params = {
      ref:
        of.kind === "prompt" ? { type: "ref/prompt", name: of.prompt } : { type: "ref/resource", uri: of.uriTemplate },
      argument: { name, value },
      ...(Object.keys(given).length > 0 && { context: { arguments: given } }),
    };
    const { values } = await client.complete(params, { signal, timeout, total: timeout });
    return [...new Set(values.slice(0, mostValues).filter(isPlain))];
  } catch (error) {
    if (signal?.aborted) throw new HostError("cancelled", "the completion was cancelled", { cause: error });
    return [];
  }
}

/** It is put into what a person writes, and sent as it is: what they would not see in it, they cannot have meant. */
function isPlain(value: string): boolean {
  return value !== "" && value.length <= longestValue && !hasUnseen(value);
}
