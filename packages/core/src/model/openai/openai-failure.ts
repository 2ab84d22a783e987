/** Classifies refusals of OpenAI-compatible endpoints, and finds the tool that caused a refusal. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { retryAfterPause } from "../../connect/retryable.ts";
import { type ApiProblem, ownWords, type ProblemKind, type Refusal } from "../api-failure.ts";
import type { ModelEvent } from "../model.ts";

/** An error that an endpoint reports. */
export interface OpenaiProblem extends ApiProblem {
  /** The request parameter that the endpoint's error names; empty if the error names none. */
  readonly param: string;
  /** The `code` and the `type` of the endpoint's error, joined into one text. */
  readonly code: string;
}

/** Classifies an error response. `now` is the current time in milliseconds since 1970. */
export function toOpenaiProblem({ status, body, retryAfter }: Refusal, now: number): OpenaiProblem {
  const whole = parseObject(body) ?? {};
  const error = isObject(whole["error"]) ? whole["error"] : whole;
  const message = wordsIn(error) ?? body.trim();
  const code = `${textIn(error, "code") ?? ""} ${textIn(error, "type") ?? ""}`;
  const afterMs = retryAfter === undefined ? undefined : retryAfterPause(retryAfter, now);
  return {
    kind: kindOf(status, message, code),
    status,
    message,
    param: textIn(error, "param") ?? "",
    code,
    afterMs,
    isSpent: code.includes("insufficient_quota"),
  };
}

/** The error message. OpenAI calls it `message`; smaller servers call it `error` or `detail`. */
function wordsIn(error: JsonObject): string | undefined {
  return textIn(error, "message") ?? textIn(error, "error") ?? textIn(error, "detail");
}

function kindOf(status: number, message: string, code: string): ProblemKind {
  const words = ownWords(message);
  if (/does not support (?:tools|functions|function calling)/i.test(words)) return "no_functions";
  if (/^Invalid 'tools': array too long/i.test(message) || /too many (?:tools|functions)/i.test(words))
    return "too_many_functions";
  if (status === 401 || status === 403) return "key";
  if (status === 404) return "model_unknown";
  if (status === 429) return "quota";
  if (status === 413 || /context_length_exceeded|exceed_context_size/.test(code) || isTooLong(words)) return "too_long";
  // Some servers answer with 500 if they cannot convert a schema to a grammar. A retry would not help.
  if (status >= 500 && /grammar|schema/i.test(message)) return "other";
  return status >= 500 ? "unavailable" : "other";
}

function isTooLong(words: string): boolean {
  return /context (?:length|window|size)|maximum context|too many tokens/i.test(words);
}

/** HTTP statuses for an invalid request. llama.cpp answers 500 if it does not accept a schema. */
const rejecting: ReadonlySet<number> = new Set([400, 422, 500]);

/**
 * Returns a `rejected` event if the endpoint probably refused the request because of a tool. The event contains the
 * tool's index if the endpoint names the tool.
 *
 * @param names The tool names in the request, in order.
 */
export function toOpenaiRejection(
  { kind, status, message, param, code }: OpenaiProblem,
  names: readonly string[],
): (ModelEvent & { readonly type: "rejected" }) | undefined {
  if (kind !== "other" || !rejecting.has(status) || names.length === 0) return undefined;
  if (/^(?:messages|prompt)\b/.test(param) || /\bcontent_filter\b/.test(code)) return undefined;
  const declaration = placeIn(message, param, names);
  return { type: "rejected", message, declaration };
}

/**
 * The index of the rejected tool. Only the beginning of the message is searched, because the rest may quote a schema
 * with any text.
 */
function placeIn(message: string, param: string, names: readonly string[]): number | undefined {
  const [, number] = /^(?:tools|functions)(?:\[|\.\[?)(\d{1,4})/.exec(param) ?? [];
  const [, name] = /^Invalid schema for function ['"`]([\w-]{1,64})['"`]/i.exec(message) ?? [];
  const index = number === undefined ? names.indexOf(name ?? "") : Number(number);
  return index >= 0 && index < names.length ? index : undefined;
}
