/** A server's question to the person: a form of simple fields, or an address to visit. Nothing in it is opened or answered by us. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";

/** Answers a question of a server (elicitation) for the user. Give one to the host to declare the capability. */
export type Elicit = (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** Texts are the server's own: raw. */
export type Elicitation =
  | {
      readonly mode: "form";
      readonly serverName: string;
      readonly message: string;
      /** Flat: each property is a text, a number, a switch or a choice. */
      readonly requestedSchema: JsonObject;
    }
  | {
      readonly mode: "url";
      readonly serverName: string;
      readonly message: string;
      /** http or https, nothing else. To be shown whole, and opened only with a yes. */
      readonly url: string;
    };

/** The user's answer to an elicitation. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: JsonObject }
  | { readonly action: "decline" | "cancel" };

export const elicitationCapability: JsonObject = { form: { applyDefaults: true }, url: {} };

/** Undefined for what cannot be put to a person. */
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

/** What the person left open takes the default that the form named. */
export function withDefaults(request: Elicitation, answer: ElicitationAnswer): JsonObject {
  if (answer.action !== "accept" || request.mode === "url") return { action: answer.action };
  const properties = isObject(request.requestedSchema["properties"]) ? request.requestedSchema["properties"] : {};
  const given = new Map(Object.entries(answer.content ?? {}).filter(([, value]) => value !== undefined));
  const fields = Object.entries(properties).flatMap(([name, field]): [string, unknown][] => {
    const value = given.get(name) ?? (isObject(field) ? field["default"] : undefined);
    return value === undefined ? [] : [[name, value]];
  });
  // From entries, because a field may be called __proto__. What the form did not ask for stays here.
  return { action: "accept", content: Object.fromEntries(fields) };
}

function toWebAddress(text: string): string | undefined {
  if (parseUrl(text) === undefined) return undefined;
  const { protocol, href, username, password } = new URL(text);
  const isWeb = protocol === "https:" || protocol === "http:";
  // A name before the @ makes an address look like another one.
  return isWeb && username === "" && password === "" ? href : undefined;
}
