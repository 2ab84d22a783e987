/** Classifies refusals of the Gemini API, and finds the tool declaration that caused a refusal. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { retryAfterPause } from "../../connect/retryable.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { type ApiProblem, ownWords, type ProblemKind, type Refusal } from "../api-failure.ts";
import type { ModelEvent } from "../model.ts";

/** An error response of the Gemini API, classified. */
export interface GeminiProblem extends ApiProblem {
  /** The field of the request that the API names; empty if it names none. */
  readonly field: string;
}

/** Classifies an error response. `now` is the current time in milliseconds since 1970. */
export function toGeminiProblem({ status, body, retryAfter }: Refusal, now: number): GeminiProblem {
  const error = errorIn(body);
  const message = typeof error["message"] === "string" ? error["message"] : body.trim();
  const details = Array.isArray(error["details"]) ? error["details"].filter(isObject) : [];
  const afterMs = wishIn(details) ?? (retryAfter === undefined ? undefined : retryAfterPause(retryAfter, now));
  return {
    kind: kindOf(status, message, details),
    status,
    message,
    field: fieldIn(details),
    afterMs,
    isSpent: isOfADay(details),
  };
}

/**
 * Returns a `rejected` event if the API probably refused the request because of a tool declaration. The event contains
 * the declaration's index if the API names the declaration.
 */
export function toGeminiRejection(
  { status, kind, message, field }: GeminiProblem,
  tools: readonly FunctionDeclaration[],
): (ModelEvent & { readonly type: "rejected" }) | undefined {
  if (status !== 400 || kind !== "other" || tools.length === 0 || isAboutContents(message, field)) return undefined;
  const declaration = placeIn(message, field, tools);
  return { type: "rejected", message, declaration };
}

/**
 * The index of the rejected declaration. The Gemini API gives the index, and Vertex AI gives the declaration's name.
 * Only the beginning of the message is searched, because the rest may quote a schema with any text.
 */
function placeIn(message: string, field: string, tools: readonly FunctionDeclaration[]): number | undefined {
  const path =
    /^(?:The GenerateContentRequest proto is invalid:\s+)?(?:\* )?(?:GenerateContentRequest\.)?tools\[\d{1,4}\]\.function_?declarations\[(\d{1,4})\]/i;
  const [, number] = path.exec(field) ?? path.exec(message) ?? [];
  const [, name] = /^Unable to submit request because `([^`]{1,128})` function_?declaration/i.exec(message) ?? [];
  const index = number === undefined ? tools.findIndex((tool) => tool.name === name) : Number(number);
  return index >= 0 && index < tools.length ? index : undefined;
}

function isAboutContents(message: string, field: string): boolean {
  return (
    /^contents\b/.test(field) ||
    /^(?:(?:\* )?GenerateContentRequest\.contents\b|Please ensure that (?:the )?(?:number of )?function (?:call|response)|Unable to process input image)/i.test(
      message,
    )
  );
}

/** The error in the response body; empty if the body is not JSON, such as an HTML page of a proxy. */
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

/** The first field that a `BadRequest` detail of the error names; empty if there is none. */
function fieldIn(details: readonly JsonObject[]): string {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []));
  return violations.filter(isObject).flatMap((violation) => textIn(violation, "field") ?? [])[0] ?? "";
}

/** The pause that a `RetryInfo` detail of the error asks for, in milliseconds. */
function wishIn(details: readonly JsonObject[]): number | undefined {
  const [wish] = details.flatMap(({ retryDelay }) => (typeof retryDelay === "string" ? [retryDelay] : []));
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(wish ?? "") ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

/** Whether a daily quota is used up. The API then also asks for a short pause, which does not help. */
function isOfADay(details: readonly JsonObject[]): boolean {
  return details.some(
    ({ violations }) =>
      Array.isArray(violations) &&
      violations.some((violation) => isObject(violation) && /PerDay/i.test(String(violation["quotaId"]))),
  );
}
