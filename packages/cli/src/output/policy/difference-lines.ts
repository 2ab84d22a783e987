/**
 * Formats each changed member with its old (`-`) and new (`+`) value. Values are never shortened, because the user
 * accepts the whole value.
 */

import type { Difference } from "@fairlead/core/server/tool-changes";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";

/** Returns up to three lines for each difference: the member, its old value and its new value. */
export function differenceLines(differences: readonly Difference[], indent: SafeText): readonly SafeText[] {
  return differences.flatMap(({ member, before, after }) => [
    safe`${indent}${toVisibleLine(member)}`,
    ...(before === undefined ? [] : [safe`${indent}  - ${toVisibleLine(before)}`]),
    ...(after === undefined ? [] : [safe`${indent}  + ${toVisibleLine(after)}`]),
  ]);
}
