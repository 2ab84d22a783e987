/** Forwards a server's question (elicitation, sampling, roots) to the client whose request led to the question. */

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "./client-call.ts";

/**
 * Returns the capabilities that the question needs but the client does not declare. Returns undefined if none is
 * missing.
 */
export function lackingFor(method: string, params: JsonObject, capabilities: JsonObject): JsonObject | undefined {
  switch (method) {
    case "elicitation/create": {
      const mode = params["mode"] === "url" ? "url" : "form";
      return canElicit(capabilities)[mode] ? undefined : { elicitation: mode === "url" ? { url: {} } : {} };
    }
    case "sampling/createMessage":
      return isObject(capabilities["sampling"]) ? undefined : { sampling: {} };
    case "roots/list":
      return isObject(capabilities["roots"]) ? undefined : { roots: {} };
    default:
      return {};
  }
}

/**
 * Returns the kinds of elicitation that a client declares. A client that declares `elicitation: {}` supports only
 * forms.
 */
export function canElicit({ elicitation }: JsonObject): { readonly form: boolean; readonly url: boolean } {
  if (!isObject(elicitation)) return { form: false, url: false };
  const url = isObject(elicitation["url"]);
  return { form: isObject(elicitation["form"]) || !url, url };
}

/**
 * Forwards the question and returns the client's answer.
 *
 * @throws Error if the client cannot answer such a question
 */
export async function askClient(
  call: ClientCall,
  { server, isNamed }: { readonly server: string; readonly isNamed: boolean },
  { method, params }: { readonly method: string; readonly params: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  const lacking = lackingFor(method, params, call.capabilities);
  if (lacking !== undefined) {
    const [name] = Object.keys(lacking);
    const why =
      name === undefined ? "the gateway does not support this kind of question" : `the client does not declare ${name}`;
    throw new Error(`the client cannot answer ${method}: ${why}`);
  }
  const own = withoutToken(params);
  return call.ask(method, method === "elicitation/create" ? labelled(own, server, isNamed) : own, signal);
}

/** Adds the server's name to each elicitation in a modern server's result, under the same conditions as `labelled`. */
export function labelledRequests(inputRequests: JsonObject, server: string, isNamed: boolean): JsonObject {
  const entries = Object.entries(inputRequests).map(([key, request]) => {
    const { method, params } = objectOf(request);
    const isElicitation = method === "elicitation/create" && isObject(params);
    return [
      key,
      isElicitation ? { ...objectOf(request), params: labelled(params, server, isNamed) } : request,
    ] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Removes the progress token from a question's parameters, because it is valid only between the server and the gateway.
 */
function withoutToken({ _meta, ...params }: JsonObject): JsonObject {
  const { progressToken: _token, ...meta } = objectOf(_meta);
  return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
}

/**
 * Adds an id to a URL elicitation that has no id, because the legacy protocol era requires one. Appends each new id to
 * the list `made`.
 */
export function withElicitationId(method: string, params: JsonObject, made: string[]): JsonObject {
  if (method !== "elicitation/create" || params["mode"] !== "url" || params["elicitationId"] !== undefined)
    return params;
  const elicitationId = randomUUID();
  made.push(elicitationId);
  return { ...params, elicitationId };
}

/**
 * Adds the server's name to the text of its question, so that it does not look like a question of the gateway. A client
 * that is connected to only that server sees the name only if the text mentions Fairlead.
 */
function labelled(params: JsonObject, server: string, isNamed: boolean): JsonObject {
  const message = stringOf(params["message"]) ?? "";
  const shown = isNamed || /fairlead/i.test(message) ? `The server "${server}" asks: ${message}` : message;
  return { ...params, message: shown };
}
