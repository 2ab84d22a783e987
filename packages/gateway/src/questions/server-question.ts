/** Forwards a server's question (elicitation, sampling, roots) to the client whose request caused it. */

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import type { ClientCall } from "./client-call.ts";
import { mentionsFairlead, withServerName } from "./server-label.ts";

/**
 * Returns the capabilities that the client should have declared, or undefined if none is missing. Returns an empty
 * object for a method that the gateway does not support.
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

/** Returns which elicitations a client supports. `elicitation: {}` means forms only. */
export function canElicit({ elicitation }: JsonObject): { readonly form: boolean; readonly url: boolean } {
  if (!isObject(elicitation)) return { form: false, url: false };
  const url = isObject(elicitation["url"]);
  return { form: isObject(elicitation["form"]) || !url, url };
}

/** The first protocol version with URL elicitations. */
const firstWithUrls = "2025-11-25";

/**
 * Returns the capabilities that count in the negotiated protocol version. Some clients declare URL elicitations in an
 * earlier version, in which no server can rely on them.
 */
export function capabilitiesIn(version: string, capabilities: JsonObject): JsonObject {
  const { elicitation } = capabilities;
  if (version >= firstWithUrls || !isObject(elicitation)) return capabilities;
  const { url: _, ...others } = elicitation;
  return { ...capabilities, elicitation: others };
}

/**
 * Asks the client and returns its answer.
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

/** Adds the server's name to the elicitations in a modern server's result, as `labelled` does. */
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

/** The progress token is valid only between server and gateway. */
function withoutToken({ _meta, ...params }: JsonObject): JsonObject {
  const { progressToken: _token, ...meta } = objectOf(_meta);
  return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
}

/** Adds an id to a URL elicitation without one, because legacy clients need it. Appends the new id to `made`. */
export function withElicitationId(method: string, params: JsonObject, made: string[]): JsonObject {
  if (method !== "elicitation/create" || params["mode"] !== "url" || params["elicitationId"] !== undefined)
    return params;
  const elicitationId = randomUUID();
  made.push(elicitationId);
  return { ...params, elicitationId };
}

/**
 * Adds the server's name, so that its question does not look like one of the gateway. If the client uses this server's
 * own URL (`/mcp/<server>`), the name is added only to questions that mention Fairlead, in the message or in the form.
 */
function labelled(params: JsonObject, server: string, isNamed: boolean): JsonObject {
  const message = stringOf(params["message"]) ?? "";
  const isLabelled = isNamed || mentionsFairlead(JSON.stringify(params));
  return { ...params, message: isLabelled ? withServerName(message, server, "asks") : message };
}
