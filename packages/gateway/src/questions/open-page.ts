/** Asks a client's user to open a page of the gateway before the request can be sent, in the form that the client supports. */

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { toolError } from "../bridge/adapt-result.ts";
import { rpcCodes, rpcError } from "../bridge/rpc-error.ts";
import type { ClientCall } from "./client-call.ts";
import { canElicit } from "./server-question.ts";

export interface PageToOpen {
  /** The key of the question in `inputRequests`. */
  readonly key: string;
  readonly link: string;
  /** What the user reads. */
  readonly words: string;
  /** What a model reads, if its client cannot ask the user. */
  readonly forModel: string;
  /** The word for it in the data of an error. */
  readonly reason: string;
  readonly server: string;
}

/** The error of protocol version 2025-11-25 for a request that needs a URL elicitation first. */
const urlElicitationRequired = -32042;
/** The requests whose result may ask a modern client something. */
const mayAsk: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/**
 * Returns the result that asks the client's user to open the page.
 *
 * @throws WireError with the JSON-RPC error that does
 */
export function askToOpen(
  call: ClientCall,
  method: string,
  { key, link, words, forModel, reason, server }: PageToOpen,
): JsonObject {
  const question = { mode: "url", message: words, url: link };
  const { url } = canElicit(call.capabilities);
  if (url && call.era === "legacy")
    throw rpcError(urlElicitationRequired, words, { elicitations: [{ ...question, elicitationId: randomUUID() }] });
  if (url && mayAsk.has(method))
    return {
      resultType: "input_required",
      inputRequests: { [key]: { method: "elicitation/create", params: question } },
    };
  if (method === "tools/call") return toolError(`${forModel}: ${link}`, call.era);
  throw rpcError(rpcCodes.refused, `${words}: ${link}`, { reason, server, url: link });
}
