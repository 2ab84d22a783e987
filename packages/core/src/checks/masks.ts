/** Replaces ids and times in snapshots by fixed words such as `<time>`, because they differ from run to run. */

import { isObject } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import { RE2JS } from "re2js";
import { writeJson } from "../text/deep-json.ts";

/** A pattern, and the word (`shown`) that replaces what it matches. */
export interface Mask {
  readonly pattern: Pick<Pattern, "replaceIn">;
  readonly shown: string;
}

const builtIn: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>"],
  // For example 2026-01-31T08:30:00.000Z or 2026-01-31 08:30:00+01:00.
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?/g, "<time>"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [A-Z][a-z]{2} \d{1,2} \d{4} \d{2}:\d{2}:\d{2}[^\n"]{0,60}/g, "<time>"],
  [/\b\d{1,2}:\d{2}:\d{2}(?: ?[AP]M)?\b/g, "<time>"],
  // Milliseconds since 1970, for times from 2001 to 2033.
  [/\b1\d{12}\b/g, "<time>"],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,64}\b/gi, "<id>"],
];

/**
 * Returns the value as a snapshot stores it: without secrets, ids and times. A part that is nested too deeply becomes a
 * description.
 */
export function toSnapshot(value: unknown, redact: (text: string) => string, masks: readonly Mask[]): unknown {
  const shown = (text: string): string => maskText(redact(text), masks);
  const text = writeJson(value, 0, (_key, inner: unknown) => {
    if (typeof inner === "string") return shown(inner);
    if (typeof inner === "number") return shown(String(inner)) === String(inner) ? inner : shown(String(inner));
    if (!isObject(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, member]) => [redact(name), member]));
  });
  return JSON.parse(text) as unknown;
}

function maskText(text: string, masks: readonly Mask[]): string {
  const own = masks.reduce((so, { pattern, shown }) => pattern.replaceIn(so, shown), text);
  return builtIn.reduce((so, [pattern, shown]) => so.replaceAll(pattern, shown), own);
}

/** A compiled regular expression. `text` is its source. */
export interface Pattern {
  readonly text: string;
  isIn(text: string): boolean;
  replaceIn(text: string, replacement: string): string;
}

/** Returns the compiled pattern, or a text that says why it cannot be used. */
export function compilePattern(text: string): Pattern | string {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(text));
    return {
      text,
      isIn: (searched) => linear.test(searched),
      replaceIn: (searched, replacement) => linear.matcher(searched).replaceAll(replacement),
    };
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, "");
  }
}
