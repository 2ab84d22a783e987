/**
 * Runs one query on the text of a stored result. This code runs in a worker thread, because a JMESPath expression may
 * need much time and memory.
 */

import { search } from "jmespath";
import { grepLines, type LineWish, type SelectedLines, selectLines } from "./select-lines.ts";

export interface ResultQuery extends LineWish {
  readonly grep?: string;
  readonly jmespath?: string;
}

/** The outcome of a query, or the reason why it failed. */
export type QueryOutcome =
  | ({ readonly kind: "selected" } & SelectedLines)
  | { readonly kind: "failed"; readonly code: "arguments_invalid" | "too_large"; readonly message: string };

/**
 * Maximum size of a stored result that Fairlead parses as JSON, in bytes. The JSON that a JMESPath expression
 * selects has the same limit.
 */
const mostBytes = 10_000_000;

/** Runs the query: a text search, a JMESPath expression, or else a selection of lines. Never throws. */
export function queryResult(text: string, { grep, jmespath, ...wish }: ResultQuery): QueryOutcome {
  if (grep !== undefined) return { kind: "selected", ...grepLines(text, grep, wish) };
  if (jmespath === undefined) return { kind: "selected", ...selectLines(text, wish) };
  if (Buffer.byteLength(text) > mostBytes)
    return failed("too_large", 'the result is too large for jmespath (10 MB): use "grep", or "from" and "lines"');
  const parsed = parse(text);
  if (parsed === undefined)
    return failed(
      "arguments_invalid",
      'jmespath works only on JSON, and this result is not JSON: use "grep", or "from" and "lines"',
    );
  try {
    const found: unknown = search(parsed.value, jmespath);
    if (!isWithin(found, mostBytes))
      return failed("too_large", "the jmespath expression selects too much: select less");
    return { kind: "selected", ...selectLines(toText(found), wish) };
  } catch (error) {
    return failed("arguments_invalid", `jmespath: ${error instanceof Error ? error.message.slice(0, 300) : "failed"}`);
  }
}

function failed(code: "arguments_invalid" | "too_large", message: string): QueryOutcome {
  return { kind: "failed", code, message };
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Whether a value can be written as JSON. A JMESPath expression may select `undefined` or an inherited function
 * (`constructor`).
 */
function isJson(value: unknown): boolean {
  return value !== undefined && typeof value !== "function";
}

/** Writes a value as text: a string as it is, a list with one item on each line, any other value as JSON. */
function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item: unknown) => JSON.stringify(isJson(item) ? item : null)).join("\n");
  return String(JSON.stringify(isJson(value) ? value : null, null, 1));
}

/**
 * Whether the JSON text of a value has at most about `most` bytes. A JMESPath expression can repeat a value so
 * often that its JSON text would fill the memory.
 */
function isWithin(value: unknown, most: number): boolean {
  let left = most;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= typeof next === "string" ? Buffer.byteLength(next) + 2 : 2;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      left -= Buffer.byteLength(key);
      waiting.push(member);
    }
  }
  return left >= 0;
}
