/** What both stand-ins do with a request that comes in. */

import type { ServerResponse } from "node:http";
import type { Reply } from "./reply.ts";

/** "abandoned": who asked did not wait for the end. */
export type Outcome = "open" | "answered" | "abandoned";

export function parseBody<Body>(text: string): Body | undefined {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return undefined;
  }
}

/** The same request, whose outcome is kept up to date. */
export function watched<Request extends { outcome: Outcome }>(request: Request, response: ServerResponse): Request {
  response.on("close", () => {
    request.outcome = response.writableFinished ? "answered" : "abandoned";
  });
  return request;
}

/** What the first rule answers that is broken. */
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
