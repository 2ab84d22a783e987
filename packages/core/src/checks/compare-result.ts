/** Compares the result of a call with the expectations of a check, and describes the differences. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import type { CallResult } from "../execute/call-result.ts";
import { describeIssues } from "../execute/check-values.ts";
import type { Validator } from "../execute/validation/validator.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import type { ResultExpectation } from "./check-file.ts";

/** The result of a call, as checks use it. A failed request also has a result, with `isError`. */
export type CheckedResult = Pick<CallResult, "content" | "isError" | "structuredContent">;

const shownCharacters = 300;

/** How many characters of a long text are shown before the first difference. */
const shownBefore = 60;

/**
 * Returns one sentence for each difference. Other functions check the schema, the snapshot and the latency, because
 * these checks need more data than the result.
 */
export function compareResult(result: CheckedResult, expect: ResultExpectation): readonly string[] {
  const text = resultText(result);
  const wantsError = expect.isError ?? false;
  const problems: string[] = [];
  if (result.isError !== wantsError)
    problems.push(
      wantsError ? "the call succeeded, but an error was expected" : `the call failed: ${clip(text, shownCharacters)}`,
    );
  if (expect.text !== undefined && text !== expect.text)
    problems.push(difference("the text", JSON.stringify(text), "expected", JSON.stringify(expect.text)));
  for (const part of expect.contains ?? [])
    if (!text.includes(part)) problems.push(`the text does not contain ${quoted(part)}: ${quoted(text)}`);
  if (expect.matches !== undefined && !expect.matches.isIn(text))
    problems.push(`the text does not match ${expect.matches.text}: ${quoted(text)}`);
  if ("structured" in expect) problems.push(...subsetProblems("structured", expect.structured, dataOf(result)));
  return problems;
}

/** The text blocks of a result, joined by line breaks. */
export function resultText({ content }: Pick<CheckedResult, "content">): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The structured content, or the text parsed as JSON. */
function dataOf(result: CheckedResult): unknown {
  return result.structuredContent ?? parseJson(resultText(result));
}

/** Describes how the structured content, or the text parsed as JSON, violates a JSON Schema. */
export async function schemaProblems(
  schema: JsonObject,
  result: CheckedResult,
  validator: Pick<Validator, "validate">,
): Promise<readonly string[]> {
  const value = dataOf(result);
  if (value === undefined) return ["the result has no structured content, and its text is not JSON"];
  const { issues, warnings } = await validator.validate(schema, value);
  const whole = "the structured content";
  return [...(issues.length > 0 ? [describeIssues(issues, { schema, value, whole })] : []), ...warnings];
}

/**
 * Describes the expected parts that a value lacks. Objects may have more members than expected. Lists must have exactly
 * as many items as expected.
 */
function subsetProblems(path: string, expected: unknown, given: unknown): readonly string[] {
  if (isObject(expected) && isObject(given))
    return Object.entries(expected).flatMap(([name, inner]) =>
      Object.hasOwn(given, name)
        ? subsetProblems(`${path}.${name}`, inner, given[name])
        : [`${path}.${name} is missing, expected ${clip(written(inner), shownCharacters)}`],
    );
  if (Array.isArray(expected) && Array.isArray(given) && expected.length === given.length)
    return expected.flatMap((inner, at) => subsetProblems(`${path}[${at}]`, inner, given[at]));
  return isSameJson(expected, given) ? [] : [difference(path, written(given), "expected", written(expected))];
}

/** Describes how two values differ, member by member. */
export function differences(path: string, before: unknown, now: unknown): readonly string[] {
  if (isObject(before) && isObject(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return names.flatMap((name) => differences(`${path}.${name}`, before[name], now[name]));
  }
  if (Array.isArray(before) && Array.isArray(now) && before.length === now.length)
    return before.flatMap((inner, at) => differences(`${path}[${at}]`, inner, now[at]));
  return isSameJson(before, now) ? [] : [difference(path, written(now), "in the snapshot", written(before))];
}

function written(value: unknown): string {
  return value === undefined ? "nothing" : canonicalJson(value);
}

/** Describes how two texts differ. Shows only a part of a long text, from shortly before the first difference. */
function difference(path: string, given: string, relation: string, expected: string): string {
  const isLong = Math.max(given.length, expected.length) > shownCharacters;
  let start = 0;
  if (isLong) while (start < given.length && given[start] === expected[start]) start += 1;
  start = Math.max(0, start - shownBefore);
  const from = (text: string): string =>
    start === 0 ? clip(text, shownCharacters) : `…${clip(text.slice(start), shownCharacters)}`;
  return `${path} is ${from(given)}, ${relation} ${from(expected)}`;
}

function quoted(text: string): string {
  return clip(JSON.stringify(text), shownCharacters);
}
