/** Arguments and results as a span has them: JSON of a bounded size, without secrets. */

import { clip } from "@fairlead/wire/text";

/** Maximum characters of one attribute, and of one text in it. */
const longestContent = 16_384;
const longestText = 4096;
/** Maximum items of one list. The others are left out. */
const mostItems = 200;

/** Writes a value as JSON. `hide` hides secrets in a text. */
export function shownContent(value: unknown, hide: (text: string) => string): string {
  let left = longestContent;
  function shorten(key: string, inner: unknown): unknown {
    left -= key.length + 8;
    if (left <= 0) return undefined;
    if (Array.isArray(inner)) return inner.length > mostItems ? inner.slice(0, mostItems) : inner;
    if (typeof inner !== "string") return inner;
    // Hidden before it is cut: half of a secret looks like none.
    const shown = clip(hide(inner.slice(0, 4 * longestContent)), longestText);
    left -= shown.length;
    return shown;
  }
  try {
    return clip(hide(String(JSON.stringify(value, shorten))), longestContent);
  } catch {
    return "(cannot be shown)";
  }
}
