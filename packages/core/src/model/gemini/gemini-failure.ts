/** How the Gemini API says no: what is behind a refusal, and whether one of the declarations is. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { retryAfterPause } from "../../connect/retry-after.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { type ApiProblem, ownWords, type ProblemKind } from "../api-failure.ts";
import type { ModelEvent } from "../model.ts";
import type { Refusal } from "../refusal.ts";

export interface GeminiProblem extends ApiProblem {
  /** The part of the request that is meant, if the API says so. */
  readonly field: string;
}

/** @param today Milliseconds since 1970. */
export function toGeminiProblem({ status, body, retryAfter }: Refusal, today: number): GeminiProblem {
  const error = errorIn(body);
  const message = typeof error["message"] === "string" ? error["message"] : body.trim();
  const details = Array.isArray(error["details"]) ? error["details"].filter(isObject) : [];
  const afterMs = wishIn(details) ?? (retryAfter === undefined ? undefined : retryAfterPause(retryAfter, today));
  return {
    kind: kindOf(status, message, details),
    status,
    message,
    field: fieldIn(details),
    ...(afterMs !== undefined && { afterMs }),
    isSpent: isOfADay(details),
  };
}

/** Undefined if the refusal is not about the declarations, or there are none. Of an unclear one the turn finds out. */
export function toGeminiRejection(
  { status, kind, message, field }: GeminiProblem,
  tools: readonly FunctionDeclaration[],
): (ModelEvent & { readonly type: "rejected" }) | undefined {
  if (status !== 400 || kind !== "other" || tools.length === 0 || isAboutContents(message, field)) return undefined;
  const place = placeIn(message, field, tools);
  return { type: "rejected", message, ...(place !== undefined && { declaration: place }) };
}

/**
 * By its number, as the Gemini API says it, or by its name, as Vertex AI does. Only where the API itself speaks: further on its
 * words may be those of a schema.
 */
function placeIn(message: string, field: string, tools: readonly FunctionDeclaration[]): number | undefined {
  const path =
    /^(?:The GenerateContentRequest proto is invalid:\s+)?(?:\* )?(?:GenerateContentRequest\.)?tools\[\d{1,4}\]\.function_?declarations\[(\d{1,4})\]/i;
  const [, number] = path.exec(field) ?? path.exec(message) ?? [];
  const [, name] = /^Unable to submit request because `([^`]{1,128})` function_?declaration/i.exec(message) ?? [];
  const place = number === undefined ? tools.findIndex((tool) => tool.name === name) : Number(number);
  return place >= 0 && place < tools.length ? place : undefined;
}

/** What was said, not what could be called; a schema may speak of all this too, but not before the API does. */
function isAboutContents(message: string, field: string): boolean {
  return (
    /^contents\b/.test(field) ||
    /^(?:(?:\* )?GenerateContentRequest\.contents\b|Please ensure that (?:the )?(?:number of )?function (?:call|response)|Unable to process input image)/i.test(
      message,
    )
  );
}

/** None in what is not JSON, a page of some proxy, say: that is shown as it is. */
function errorIn(body: string): JsonObject {
  const error = parseObject(body)?.["error"];
  return isObject(error) ? error : {};
}

function kindOf(status: number, message: string, details: readonly JsonObject[]): ProblemKind {
  const isKey = details.some(({ reason }) => reason === "API_KEY_INVALID" || reason === "API_KEY_SERVICE_BLOCKED");
  if (status === 401 || status === 403 || isKey) return "key";
  if (status === 404) return "model_unknown";
  if (status === 429) return "quota";
  if (status >= 500) return "unavailable";
  const words = ownWords(message);
  if (/at most \d+ function declarations/i.test(words)) return "too_many_functions";
  return status === 413 || /token count|number of tokens|context (?:length|window)/i.test(words) ? "too_long" : "other";
}

/** `BadRequest`: the first that it names. */
function fieldIn(details: readonly JsonObject[]): string {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []));
  return violations.filter(isObject).flatMap((violation) => textIn(violation, "field") ?? [])[0] ?? "";
}

/** `RetryInfo`: seconds, perhaps with fractions. */
function wishIn(details: readonly JsonObject[]): number | undefined {
  const [wish] = details.flatMap(({ retryDelay }) => (typeof retryDelay === "string" ? [retryDelay] : []));
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(wish ?? "") ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

/** A quota of a day names a pause all the same, after which nothing is different. */
function isOfADay(details: readonly JsonObject[]): boolean {
  return details.some(
    ({ violations }) =>
      Array.isArray(violations) &&
      violations.some((violation) => isObject(violation) && /PerDay/i.test(String(violation["quotaId"]))),
  );
}
