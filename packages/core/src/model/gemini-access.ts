/** How requests get to the Gemini API or to Vertex AI, and in whose name. The API's package never sees a key: it is put on as a request leaves. */

import type { GoogleGenAI } from "@google/genai/web";
import type { Fetch } from "../net/bounded-fetch.ts";

export type GeminiAccess =
  | {
      readonly kind: "key";
      readonly apiKey: string;
      /** The variable it is from, for messages. */
      readonly variable: string;
      /** Vertex AI in its express mode takes keys too. */
      readonly isVertex?: boolean;
    }
  | {
      readonly kind: "vertex";
      readonly project: string;
      readonly location: string;
      /** The headers of a request in the name of the person's Google account. */
      readonly authorize: () => Promise<Readonly<Record<string, string>>>;
    };

/** Its name in the address of a request. */
export function modelPath(access: GeminiAccess, name: string): string {
  if (access.kind === "key" || /^(?:projects|publishers)\//.test(name)) return name;
  return `projects/${access.project}/locations/${access.location}/publishers/google/models/${name}`;
}

/**
 * The package's build for browsers: a sixth of the cost of the one for Node, which brings sockets and all of Google's
 * sign-ins, looks into the environment by itself and writes to stdout.
 */
export async function openGemini(
  access: GeminiAccess,
  baseUrl: string | undefined,
  fetch: Fetch,
): Promise<GoogleGenAI> {
  const { GoogleGenAI } = await import("@google/genai/web");
  const base = baseUrl ?? (access.kind === "vertex" ? vertexAddress(access.location) : undefined);
  return new GoogleGenAI({
    apiKey: "put on by our own fetch",
    vertexai: access.kind === "vertex" || access.isVertex === true,
    httpOptions: {
      ...(base !== undefined && { baseUrl: base }),
      fetch: async (address, init = {}) => {
        const headers = new Headers(init.headers);
        headers.delete("x-goog-api-key");
        for (const [name, value] of Object.entries(await credentialsOf(access))) headers.set(name, value);
        return fetch(address instanceof Request ? address.url : address, { ...init, headers });
      },
    },
  });
}

async function credentialsOf(access: GeminiAccess): Promise<Readonly<Record<string, string>>> {
  return access.kind === "key" ? { "x-goog-api-key": access.apiKey } : access.authorize();
}

function vertexAddress(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}
