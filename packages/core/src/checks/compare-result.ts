/** Compares a tool's result with what a check expects, and describes each difference. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { describeIssues } from "../execute/check-values.ts";
import type { CallResult } from "../execute/executor.ts";
import type { Validator } from "../execute/validation/validator.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import type { ResultExpectation } from "./check-file.ts";

/** The part of a tool's result that checks compare. A failed request also has one, with `isError`. */
export type CheckedResult = Pick<CallResult, "content" | "isError" | "structuredContent">;

const shownCharacters = 300;

/** Of a long text, this many characters before the first difference are shown. */
const shownBefore = 60;

/** Returns one sentence for each difference. Does not check `schema`, `snapshot` and `latency`. */
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

/** Returns the text blocks of a result, joined by line breaks. */
export function resultText({ content }: Pick<CheckedResult, "content">): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function dataOf(result: CheckedResult): unknown {
  return result.structuredContent ?? parseJson(resultText(result));
}

/** Returns how the structured content violates a JSON Schema. Without structured content, parses the text as JSON. */
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

/** Objects may have further members. Lists must have the same length. */
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

/** Returns one sentence for each difference between a snapshot and a new value. `path` names the value. */
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

/** Of a long text, only the part around the first difference is shown. */
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
