/** The errors of Anthropic's API. */

import { type Reply, wholeReply } from "../reply.ts";

export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return wholeReply({ type: "error", error: { type, message }, request_id: "req_1" }, status, headers);
}

/** The error of an API that has too much to do. */
export function anthropicOverloaded(): Reply {
  return anthropicError(529, "overloaded_error", "Overloaded");
}

/** The error for a rate limit, with the time to wait. */
export function anthropicRateLimited(seconds: number): Reply {
  const message = "This request would exceed your organization's rate limit";
  return anthropicError(429, "rate_limit_error", message, { "retry-after": String(seconds) });
}
