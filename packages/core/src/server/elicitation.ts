/** Reads and answers elicitations: questions from a server to the user, as a form or as a URL to open. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";

/**
 * Shows a server's question to the user and returns the answer. A host without this function does not declare
 * elicitation.
 */
export type Elicit = (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** A question from a server. Its texts are not escaped. */
export type Elicitation =
  | {
      readonly mode: "form";
      readonly serverName: string;
      readonly message: string;
      /** A flat schema, in which each property is a string, a number, a boolean or an enum. */
      readonly requestedSchema: JsonObject;
    }
  | {
      readonly mode: "url";
      readonly serverName: string;
      readonly message: string;
      /** An http or https URL. Show the whole URL, and open it only after the user has confirmed. */
      readonly url: string;
    };

/** The user's answer to an elicitation. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: JsonObject }
  | { readonly action: "decline" | "cancel" };

/** The capability that Fairlead declares. */
export const elicitationCapability: JsonObject = { form: { applyDefaults: true }, url: {} };

/** Reads the parameters of `elicitation/create`; undefined if they are invalid. */
export function toElicitation(serverName: string, params: JsonObject): Elicitation | undefined {
  const { mode = "form", message, requestedSchema, url } = params;
  const words = typeof message === "string" ? message : "";
  if (mode === "url") {
    const address = typeof url === "string" ? toWebAddress(url) : undefined;
    return address === undefined ? undefined : { mode: "url", serverName, message: words, url: address };
  }
  if (mode !== "form" || !isObject(requestedSchema)) return undefined;
  return { mode: "form", serverName, message: words, requestedSchema };
}

/** The result for the server. Fields that the answer leaves out get their defaults from the schema. */
export function withDefaults(request: Elicitation, answer: ElicitationAnswer): JsonObject {
  if (answer.action !== "accept" || request.mode === "url") return { action: answer.action };
  const properties = isObject(request.requestedSchema["properties"]) ? request.requestedSchema["properties"] : {};
  const given = new Map(Object.entries(answer.content ?? {}).filter(([, value]) => value !== undefined));
  const fields = Object.entries(properties).flatMap(([name, field]): [string, unknown][] => {
    const value = given.get(name) ?? (isObject(field) ? field["default"] : undefined);
    return value === undefined ? [] : [[name, value]];
  });
  // `fromEntries` is safe for a field named `__proto__`.
  return { action: "accept", content: Object.fromEntries(fields) };
}

function toWebAddress(text: string): string | undefined {
  if (parseUrl(text) === undefined) return undefined;
  const { protocol, href, username, password } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  // In `https://bank.com@evil.com/`, the host is `evil.com`. Such a user name misleads people, so the URL is refused.
  return isWeb && username === "" && password === "" ? href : undefined;
}
