/** Compares the result of a call with what a check expects, and says how it differs. Pure. */

import { isObject, parseJson } from "@fairlead/wire/json";
import type { CallResult } from "../execute/call-result.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import type { ResultExpectation } from "./check-file.ts";

/** The result of a call as checks see it. A request that failed is an error, too. */
export type CheckedResult = Pick<CallResult, "content" | "isError" | "structuredContent">;

const shownCharacters = 300;

/** Characters shown before the first difference of long texts. */
const shownBefore = 60;

/** Everything but schema, snapshot and latency, which need more than the result. Returns one sentence for each difference. */
export function compareResult(result: CheckedResult, expect: ResultExpectation): readonly string[] {
  const text = resultText(result);
  const wantsError = expect.isError ?? false;
  const problems: string[] = [];
  if (result.isError !== wantsError)
    problems.push(wantsError ? "an error was expected" : `the call failed: ${clip(text)}`);
  if (expect.text !== undefined && text !== expect.text)
    problems.push(difference("the text", JSON.stringify(text), "expected", JSON.stringify(expect.text)));
  for (const part of expect.contains ?? [])
    if (!text.includes(part)) problems.push(`the text does not contain ${quoted(part)}: ${quoted(text)}`);
  if (expect.matches !== undefined && !expect.matches.isIn(text))
    problems.push(`the text does not match ${expect.matches.text}: ${quoted(text)}`);
  if ("structured" in expect) problems.push(...subsetProblems("structured", expect.structured, dataOf(result)));
  return problems;
}

/** The joined text of a result. */
export function resultText({ content }: Pick<CheckedResult, "content">): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The structured content, or the text read as JSON. */
export function dataOf(result: CheckedResult): unknown {
  return result.structuredContent ?? parseJson(resultText(result));
}

/** How a value lacks what is expected. Objects may have more members; lists must have the same length. */
export function subsetProblems(path: string, expected: unknown, given: unknown): readonly string[] {
  if (isObject(expected) && isObject(given))
    return Object.entries(expected).flatMap(([name, inner]) =>
      Object.hasOwn(given, name)
        ? subsetProblems(`${path}.${name}`, inner, given[name])
        : [`${path}.${name} is missing, expected ${clip(written(inner))}`],
    );
  if (Array.isArray(expected) && Array.isArray(given) && expected.length === given.length)
    return expected.flatMap((inner, at) => subsetProblems(`${path}[${at}]`, inner, given[at]));
  return isSameJson(expected, given) ? [] : [difference(path, written(given), "expected", written(expected))];
}

/** How two values differ, place by place. */
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

/** Texts that are too long to show are shown from just before the place where they differ. */
function difference(path: string, given: string, relation: string, expected: string): string {
  const isLong = Math.max(given.length, expected.length) > shownCharacters;
  let start = 0;
  if (isLong) while (start < given.length && given[start] === expected[start]) start += 1;
  start = Math.max(0, start - shownBefore);
  const from = (text: string): string => (start === 0 ? clip(text) : `…${clip(text.slice(start))}`);
  return `${path} is ${from(given)}, ${relation} ${from(expected)}`;
}

function quoted(text: string): string {
  return clip(JSON.stringify(text));
}

function clip(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
