/**
 * How requests reach Gemini: through the Gemini API or Vertex AI, with a key or an account. Public types must not use
 * the types of Google's package, because those need TypeScript's DOM library.
 */

import { endpointOf } from "../endpoint.ts";
import type { ModelListPlace } from "../model-list.ts";

/** The API and its credentials. */
export type GeminiAccess =
  | {
      readonly kind: "key";
      readonly apiKey: string;
      /** The name of the environment variable with the key, for messages. */
      readonly variable: string;
      /** Whether the key is for Vertex AI in express mode, and not for the Gemini API. */
      readonly isVertex?: boolean;
    }
  | {
      readonly kind: "vertex";
      readonly project: string;
      readonly location: string;
      /** Returns the authorization headers of the user's Google account. */
      readonly authorize: () => Promise<Readonly<Record<string, string>>>;
    };

/** The model's name in the form that the URL of a request needs. */
export function modelPath(access: GeminiAccess, name: string): string {
  if (access.kind === "key" || /^(?:projects|publishers)\//.test(name)) return name;
  return `projects/${access.project}/locations/${access.location}/publishers/google/models/${name}`;
}

/** Where the Gemini API has its list of models. Undefined for Vertex AI, which has no list of Google's models. */
export function geminiModelList(
  access: GeminiAccess,
  baseUrl = "https://generativelanguage.googleapis.com",
): ModelListPlace | undefined {
  if (access.kind === "vertex" || access.isVertex === true) return undefined;
  const url = endpointOf(baseUrl, "v1beta/models");
  url.searchParams.set("pageSize", "1000");
  return { url, headers: { "x-goog-api-key": access.apiKey }, reachNext: "Check the network and the proxy." };
}
