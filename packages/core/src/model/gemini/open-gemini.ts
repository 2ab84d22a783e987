/** Loads Google's package for requests. The package never sees the key, which our fetch adds. */

import type { GoogleGenAI } from "@google/genai/web";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { GeminiAccess } from "./gemini-access.ts";

/**
 * Uses the build for browsers: it costs a sixth of the build for Node, which loads sockets and all of Google's
 * sign-ins, reads the environment and writes to stdout.
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
