/** Compares a recorded value with a live one: `(hidden)` in a recorded text matches any text. Pure. */

import { fitsText, hidden } from "../text/hidden-text.ts";

/** Whether the live value equals the recorded value, except where the recording has `(hidden)`. */
export function fitsHidden(recorded: unknown, live: unknown): boolean {
  const pairs: [unknown, unknown][] = [[recorded, live]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [before, now] = pair;
    if (before === hidden || Object.is(before, now)) continue;
    if (typeof before === "string" && typeof now === "string" && fitsText(before, now)) continue;
    if (typeof before !== "object" || typeof now !== "object" || before === null || now === null) return false;
    if (Array.isArray(before) !== Array.isArray(now)) return false;
    const members = Object.entries(before);
    if (members.length !== Object.keys(now).length) return false;
    for (const [name, value] of members) {
      if (!Object.hasOwn(now, name)) return false;
      pairs.push([value, (now as Record<string, unknown>)[name]]);
    }
  }
  return true;
}
