/**
 * Combines two shapes (sets of schema rules), so that the rules of both apply. Each function combines one kind of rule.
 */

import type { Report } from "../schema-node.ts";
import { constraints, type Shape, type TypeName } from "./shape.ts";

/** The types that both shapes allow. If one shape allows integers and the other one numbers, the result is integers. */
export function commonTypes(a: Shape, b: Shape): ReadonlySet<TypeName> | undefined {
  if (a.types === undefined || b.types === undefined) return a.types ?? b.types;
  const { types } = b;
  const narrow = (type: TypeName): readonly TypeName[] => {
    if (types.has(type)) return [type];
    const isNumeric = (type === "number" && types.has("integer")) || (type === "integer" && types.has("number"));
    return isNumeric ? ["integer"] : [];
  };
  return new Set([...a.types].flatMap(narrow));
}

/** The values in both lists. If one list is undefined, it allows every value. */
export function common<T>(a: readonly T[] | undefined, b: readonly T[] | undefined): readonly T[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const allowed = new Set(b);
  return a.filter((value) => allowed.has(value));
}

/** The stricter of the two shapes' bounds, for each keyword. */
export function strictest(a: Shape, b: Shape): Pick<Shape, "minimum" | "maximum" | "minItems" | "maxItems"> {
  const found: Pick<Shape, "minimum" | "maximum" | "minItems" | "maxItems"> = {};
  for (const [limit, stricter] of [
    ["minimum", Math.max],
    ["maximum", Math.min],
    ["minItems", Math.max],
    ["maxItems", Math.min],
  ] as const) {
    const given = [a[limit], b[limit]].filter((value) => value !== undefined);
    if (given.length > 0) found[limit] = stricter(...given);
  }
  return found;
}

/** Reports which rules of `a` became stricter when `a` was merged with another shape. */
export function reportChanges(a: Shape, merged: Shape, report: Report): void {
  const note = "Another rule for the same value is stricter.";
  if (a.types !== undefined && [...a.types].join() !== [...(merged.types ?? [])].join()) {
    report(a.path, "type", "rewritten", note);
  }
  for (const { member, keyword } of constraints) {
    const isRule = member !== "items" && member !== "prefix";
    if (isRule && a[member] !== undefined && String(a[member]) !== String(merged[member])) {
      report(a.path, keyword, "rewritten", note);
    }
  }
}
