/** Classifies refusals of Anthropic's API, and finds the tool that caused a refusal. Pure. */

import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { retryAfterPause } from "../../connect/retryable.ts";
import { type ApiProblem, ownWords, type ProblemKind, type Refusal } from "../api-failure.ts";
import type { ModelEvent } from "../model.ts";

/** The HTTP status of each type of error. An error within a stream has a type and no status. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/** Returns the refusal that an event of a stream contains. */
export function refusalInStream(data: string): Refusal {
  const { type } = errorIn(data);
  return { status: statuses.get(type) ?? 500, body: data };
}

/** Classifies an error response. `now` is the current time in milliseconds since 1970. */
export function toAnthropicProblem({ status, body, retryAfter }: Refusal, now: number): ApiProblem {
  const { message } = errorIn(body);
  const afterMs = retryAfter === undefined ? undefined : retryAfterPause(retryAfter, now);
  const isSpent = status === 402 || message.startsWith("Your credit balance is too low");
  return { kind: isSpent ? "quota" : kindOf(status, message), status, message, afterMs, isSpent };
}

function errorIn(body: string): { readonly type: string; readonly message: string } {
  const { error } = parseObject(body) ?? {};
  const found = isObject(error) ? error : {};
  return { type: textIn(found, "type") ?? "", message: textIn(found, "message") ?? body.trim() };
}

function kindOf(status: number, message: string): ProblemKind {
  if (status === 401 || status === 403) return "key";
  if (status === 404) return "model_unknown";
  if (status === 429) return "quota";
  if (status >= 500) return "unavailable";
  const isTooLong = /^prompt is too long|exceed(?:s|ed)? (?:the )?context (?:limit|window)/i.test(ownWords(message));
  return status === 413 || isTooLong ? "too_long" : "other";
}

/**
 * Returns a `rejected` event if the API refused the request because of a tool. The API's message begins with the place
 * of the fault in the request; the rest may quote a schema with any text.
 *
 * @param count The number of tools in the request.
 */
export function toAnthropicRejection(
  { status, kind, message }: ApiProblem,
  count: number,
): (ModelEvent & { readonly type: "rejected" }) | undefined {
  const [prefix, number] = /^tools(?:\.(\d{1,4})\b)?/.exec(message) ?? [];
  if (prefix === undefined || status !== 400 || kind !== "other" || count === 0) return undefined;
  const declaration = number === undefined ? count : Number(number);
  return { type: "rejected", message, declaration: declaration < count ? declaration : undefined };
}

/** The largest `max_tokens` that the model accepts, if the API refused the request because of it. */
export function mostTokensIn({ status, body }: Refusal): number | undefined {
  const [, most] = /^max_tokens: \d+ > (\d{1,7})\b/.exec(errorIn(body).message) ?? [];
  return status === 400 && most !== undefined && Number(most) > 0 ? Number(most) : undefined;
}

/** Which content of the conversation the API refuses, if the message says so. */
export function refusedContent({ status, body }: Refusal): "media" | "thoughts" | undefined {
  const { message } = errorIn(body);
  if (status !== 400 || !message.startsWith("messages.")) return undefined;
  if (/\bthinking\b/.test(message)) return "thoughts";
  return /\b(?:image|PDF|document)\b/i.test(message) ? "media" : undefined;
}
