/** The errors of OpenAI's API. */

import { type Reply, wholeReply } from "../reply.ts";

export interface OpenaiErrorParts {
  readonly type?: string;
  readonly param?: string;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function openaiError(
  status: number,
  message: string,
  { type = "invalid_request_error", param, code, headers = {} }: OpenaiErrorParts = {},
): Reply {
  return wholeReply({ error: { message, type, param: param ?? null, code: code ?? null } }, status, headers);
}

/** The error for a rate limit. Without `seconds` it does not say when to try again. */
export function rateLimited(seconds?: number): Reply {
  return openaiError(429, "Rate limit reached for requests", {
    type: "requests",
    code: "rate_limit_exceeded",
    ...(seconds !== undefined && { headers: { "retry-after": String(seconds) } }),
  });
}

/** The error for a used-up quota: waiting does not help. */
export function quotaUsedUp(): Reply {
  return openaiError(429, "You exceeded your current quota, please check your plan and billing details.", {
    type: "insufficient_quota",
    code: "insufficient_quota",
  });
}

export function serverError(status = 500): Reply {
  return openaiError(status, "The server had an error while processing your request. Sorry about that!", {
    type: "server_error",
  });
}
