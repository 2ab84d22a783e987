/** Functions for incoming requests that the replacements of model APIs share. */

import type { ServerResponse } from "node:http";
import type { Reply } from "./reply.ts";

/** The outcome of a request. "abandoned": the client did not wait for the end. */
export type Outcome = "open" | "answered" | "abandoned";

export function parseBody<Body>(text: string): Body | undefined {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return undefined;
  }
}

/** Keeps the outcome of the request up to date, and returns the request. */
export function watched<Request extends { outcome: Outcome }>(request: Request, response: ServerResponse): Request {
  response.on("close", () => {
    request.outcome = response.writableFinished ? "answered" : "abandoned";
  });
  return request;
}

/** Returns the answer of the first broken rule. */
export function firstBroken<Heard>(
  rules: readonly ((heard: Heard) => Reply | undefined)[],
  heard: Heard,
): Reply | undefined {
  for (const rule of rules) {
    const refusal = rule(heard);
    if (refusal) return refusal;
  }
  return undefined;
}
