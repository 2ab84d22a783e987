/** How OpenAI-compatible endpoints say no: what is behind a refusal, and whether one of the tools is. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { retryAfterPause } from "../../connect/retry-after.ts";
import { type ApiProblem, ownWords, type ProblemKind } from "../api-failure.ts";
import type { ModelEvent } from "../model.ts";
import type { Refusal } from "../refusal.ts";

export interface OpenaiProblem extends ApiProblem {
  /** The part of the request that is meant, if the endpoint says so. */
  readonly param: string;
  /** Its code and its type, if it has any. */
  readonly code: string;
}

/** @param today Milliseconds since 1970. */
export function toOpenaiProblem({ status, body, retryAfter }: Refusal, today: number): OpenaiProblem {
  const whole = parseObject(body) ?? {};
  const error = isObject(whole["error"]) ? whole["error"] : whole;
  const message = wordsIn(error) ?? body.trim();
  const code = `${textIn(error, "code") ?? ""} ${textIn(error, "type") ?? ""}`;
  const afterMs = retryAfter === undefined ? undefined : retryAfterPause(retryAfter, today);
  return {
    kind: kindOf(status, message, code),
    status,
    message,
    param: textIn(error, "param") ?? "",
    code,
    ...(afterMs !== undefined && { afterMs }),
    isSpent: code.includes("insufficient_quota"),
  };
}

/** OpenAI's own shape, or what smaller servers write. */
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
  // Where a grammar is made of the schemas, one that cannot be made is a fault of the server's: to ask again is in vain.
  if (status >= 500 && /grammar|schema/i.test(message)) return "other";
  return status >= 500 ? "unavailable" : "other";
}

function isTooLong(words: string): boolean {
  return /context (?:length|window|size)|maximum context|too many tokens/i.test(words);
}

/** With these, a request is called wrong; the last is what llama.cpp says of a schema. */
const rejecting: ReadonlySet<number> = new Set([400, 422, 500]);

/**
 * Undefined if the refusal is not about the tools, or there are none. Of an unclear one the turn finds out. `names`: what the
 * endpoint was told, in order.
 */
export function toOpenaiRejection(
  { kind, status, message, param, code }: OpenaiProblem,
  names: readonly string[],
): (ModelEvent & { readonly type: "rejected" }) | undefined {
  if (kind !== "other" || !rejecting.has(status) || names.length === 0) return undefined;
  if (/^(?:messages|prompt)\b/.test(param) || /\bcontent_filter\b/.test(code)) return undefined;
  const place = placeIn(message, param, names);
  return { type: "rejected", message, ...(place !== undefined && { declaration: place }) };
}

/** Only where the endpoint itself speaks: further on its words may be those of a schema. */
function placeIn(message: string, param: string, names: readonly string[]): number | undefined {
  const [, number] = /^(?:tools|functions)(?:\[|\.\[?)(\d{1,4})/.exec(param) ?? [];
  const [, name] = /^Invalid schema for function ['"`]([\w-]{1,64})['"`]/i.exec(message) ?? [];
  const place = number === undefined ? names.indexOf(name ?? "") : Number(number);
  return place >= 0 && place < names.length ? place : undefined;
}
