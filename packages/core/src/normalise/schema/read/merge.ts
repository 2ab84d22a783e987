/** Merges schemas (`Shape`) that describe the same value. */

import type { Report } from "../schema-node.ts";
import { type Spent, spendMerge } from "./bounds.ts";
import {
  annotated,
  constraints,
  emptyShape,
  isConstrained,
  itemsOf,
  reportDropped,
  reportMerged,
  ruleKeywords,
  type Shape,
  type TypeName,
  withoutWords,
} from "./shape.ts";

/** The counters and the report of the compilation to which the merge belongs. */
export interface Merging {
  readonly spent: Spent;
  readonly report: Report;
}

/** Maximum number of pairs when the alternatives of two shapes are combined. */
const mostProducts = 16;

/**
 * Returns the `Shape` that accepts what both shapes accept. If the shapes contradict each other, returns their union,
 * so that no property is lost. Keeps the path, title and description of `a`.
 */
export function meet(a: Shape, b: Shape, merging: Merging): Shape {
  const both = intersect(a, b, merging);
  if (both !== undefined) return both;
  for (const keyword of ruleKeywords(a))
    merging.report(
      a.path,
      keyword,
      "moved",
      "This schema contradicts another schema for the same value: either may apply.",
    );
  return { ...emptyShape(a.path), ...annotated(a, b), anyOf: [withoutWords(a), withoutWords(b)] };
}

/** A `Shape` that accepts what any of the shapes accepts. Without shapes: one that accepts everything. */
export function union(shapes: readonly Shape[]): Shape {
  const [first] = shapes;
  if (first === undefined) return emptyShape("");
  return shapes.length === 1 ? first : { ...emptyShape(first.path), origins: [], anyOf: shapes, isMade: true };
}

/** Adds the properties of `others` to `shape` as optional properties, except the names in `settled`. */
export function withOptional(
  shape: Shape,
  others: readonly Shape[],
  merging: Merging,
  settled: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, Shape> {
  const found = new Map<string, Shape[]>();
  for (const other of others.flatMap((each) => alternativesOf(each, merging.report))) {
    spendMerge(merging.spent, other.properties.size);
    for (const [name, property] of other.properties) {
      if (!settled.has(name)) found.set(name, [...(found.get(name) ?? []), property]);
    }
    // A schema may require a property that it does not describe. The merged schema gets that property without a type.
    for (const name of shape.isClosed === true ? [] : other.required) {
      if (!shape.properties.has(name) && !found.has(name)) {
        found.set(name, [{ ...emptyShape(other.path), origins: [] }]);
      }
    }
  }
  const merged = new Map(shape.properties);
  for (const [name, variants] of found) {
    const own = shape.properties.get(name);
    merged.set(name, own === undefined ? union(variants) : widened(own, variants, merging));
  }
  return merged;
}

/** Adds the nested properties of `variants` to a property. The variants have the same name in other shapes. */
function widened(property: Shape, variants: readonly Shape[], merging: Merging): Shape {
  const rich = variants.filter(hasProperties);
  for (const variant of rich) reportMerged(variant, merging.report);
  const others = variants.filter((variant) => !rich.includes(variant));
  reportDropped(
    others,
    "The rules of this schema apply only in some alternatives; the description mentions these rules.",
    merging.report,
  );
  if (rich.length === 0) return property;
  const isObject = [property, ...rich].every(({ anyOf, items, prefix }) => !anyOf && !items && !prefix);
  if (isObject) return { ...property, properties: withOptional(property, rich, merging) };
  return {
    ...emptyShape(property.path),
    ...annotated(property, property),
    anyOf: [withoutWords(property), ...rich],
    isMade: true,
  };
}

/**
 * A `Shape` that requires nothing, and accepts every property, every type and every list item that one of `shapes`
 * accepts.
 */
function acceptsAll(shapes: readonly Shape[], merging: Merging): Shape {
  const all = shapes.flatMap((shape) => alternativesOf(shape, merging.report));
  // A shape that has alternatives is not in `all`, but its own keywords are merged too.
  for (const shape of new Set([...shapes, ...all])) reportMerged(shape, merging.report);
  const isTyped = all.every((shape) => shape.types !== undefined);
  const inner = all.flatMap(itemsOf);
  const empty = emptyShape(all[0]?.path ?? "");
  return {
    ...empty,
    origins: all.flatMap(({ origins }) => origins),
    notes: [...new Set(all.flatMap(({ notes }) => notes))],
    hints: new Set(all.flatMap(({ hints }) => [...hints])),
    types: isTyped ? new Set(all.flatMap((shape) => [...(shape.types ?? [])])) : undefined,
    properties: withOptional(empty, all, merging),
    items: inner.length > 0 ? acceptsAll(inner, merging) : undefined,
  };
}

function hasProperties(shape: Shape): boolean {
  return shape.properties.size > 0 || [...itemsOf(shape), ...(shape.anyOf ?? [])].some(hasProperties);
}

/**
 * Returns one object that accepts every alternative. Used if the API accepts only one object, or if alternatives share
 * properties.
 */
export function flatten(shape: Shape, alternatives: readonly Shape[], merging: Merging): Shape {
  const { anyOf, isMade: _, ...own } = shape;
  const base = anyOf === undefined ? own : flatten(own, anyOf, merging);
  const all = alternatives.flatMap((alternative) => alternativesOf(alternative, merging.report));
  const possible = all.filter(({ types }) => types === undefined || types.has("object"));
  const dropped = all.flatMap((each) => (possible.includes(each) ? itemsOf(each) : [each]));
  reportDropped(dropped, "The alternatives become one object, which keeps only their properties.", merging.report);
  const [first, ...others] = possible;
  if (first === undefined) return base;
  const always = [...first.required].filter((name) => others.every(({ required }) => required.has(name)));
  const settled = new Set(
    [...base.properties.keys()].filter((name) => possible.every((each) => each.properties.has(name))),
  );
  const properties = new Map(withOptional(base, possible, merging, settled));
  for (const name of settled) {
    const variants = possible.flatMap((each) => each.properties.get(name) ?? []);
    for (const variant of variants) reportMerged(variant, merging.report);
    properties.set(name, meet(base.properties.get(name) ?? emptyShape(base.path), union(variants), merging));
  }
  return { ...base, properties, required: new Set([...base.required, ...always]) };
}

/** The `Shape` that accepts what both shapes accept. Undefined if no value fits both. */
function intersect(a: Shape, b: Shape, merging: Merging): Shape | undefined {
  spendMerge(merging.spent, valuesIn(a) + valuesIn(b));
  const words = annotated(a, b);
  if (!isConstrained(b)) return { ...a, ...words };
  if (!isConstrained(a)) return { ...b, ...words, path: a.path };
  if (a.anyOf !== undefined || b.anyOf !== undefined) return intersectAlternatives(a, b, merging);
  const types = commonTypes(a, b);
  const strings = common(a.strings, b.strings);
  const isWhole = types?.has("integer") === true;
  const numbers = common(a.numbers, b.numbers)?.filter((value) => !isWhole || Number.isInteger(value));
  if (types?.size === 0 || strings?.length === 0 || numbers?.length === 0) return undefined;
  const items = a.items && b.items ? meetInside(a.items, b.items, merging) : (a.items ?? b.items);
  const prefix = a.prefix && b.prefix ? bothPrefixes(a.prefix, b.prefix, merging) : (a.prefix ?? b.prefix);
  const merged: Shape = {
    ...b,
    ...a,
    ...words,
    ...strictest(a, b),
    types,
    strings,
    numbers,
    items,
    prefix,
    hints: new Set([...a.hints, ...b.hints]),
    properties: bothProperties(a.properties, b.properties, merging),
    required: new Set([...a.required, ...b.required]),
    isClosed: a.isClosed === true || b.isClosed === true,
  };
  reportChanges(a, merged, merging.report);
  return merged;
}

function valuesIn({ strings = [], numbers = [] }: Shape): number {
  return strings.length + numbers.length;
}

function intersectAlternatives(a: Shape, b: Shape, merging: Merging): Shape | undefined {
  const words = annotated(a, b);
  const [choice, other] = a.anyOf === undefined ? [b, a] : [a, b];
  const alternatives = choice.anyOf ?? [];
  const others = other.anyOf ?? [withoutWords(other)];
  const haveProperties = (shapes: readonly Shape[]): boolean => shapes.some(({ properties }) => properties.size > 0);
  if (haveProperties(others) || (other.anyOf !== undefined && haveProperties(alternatives))) {
    for (const shape of [...alternatives, ...(other.anyOf ?? [])]) reportMerged(shape, merging.report);
    if (a.anyOf !== undefined && a.isMade !== true)
      merging.report(a.path, "anyOf", "merged", "Another schema describes properties of the same object.");
    return { ...flatten(other, alternatives, merging), ...words, path: a.path };
  }
  const isTooMany = alternatives.length * others.length > mostProducts && others.length > 1;
  if (isTooMany && [...alternatives, ...others].some(hasProperties)) {
    if (a.anyOf !== undefined && a.isMade !== true)
      merging.report(
        a.path,
        "anyOf",
        "merged",
        "There are too many combinations of alternatives, so the properties of all alternatives are allowed.",
      );
    return { ...acceptsAll([...alternatives, ...others], merging), ...words, path: a.path };
  }
  // There are too many combinations of alternatives, so only the alternatives of the first shape are kept.
  const rules = isTooMany ? [emptyShape(a.path)] : others;
  if (other.anyOf !== undefined) for (const shape of other.anyOf) reportMerged(shape, merging.report);
  const products = alternatives.flatMap((shape) =>
    rules.map((rule) => ({ shape, rule, both: intersect(shape, rule, merging) })),
  );
  const anyOf = products.flatMap(({ both }) => both ?? []);
  if (anyOf.length === 0) return undefined;
  if (a.anyOf === undefined) {
    for (const keyword of ruleKeywords(a))
      merging.report(a.path, keyword, "moved", "The rule is repeated in each alternative.");
  }
  const used = new Set(products.flatMap(({ shape, rule, both }) => (both === undefined ? [] : [shape, rule])));
  const impossible = [...alternatives, ...(other.anyOf ?? [])].filter((shape) => !used.has(shape));
  reportDropped(
    impossible,
    "This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
    merging.report,
  );
  return { ...emptyShape(a.path), ...words, anyOf, isMade: choice.isMade };
}

function meetInside(a: Shape, b: Shape, merging: Merging): Shape {
  if (a.path !== b.path) reportMerged(b, merging.report);
  return meet(a, b, merging);
}

function bothPrefixes(a: readonly Shape[], b: readonly Shape[], merging: Merging): readonly Shape[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => {
    const [one, other] = [a[index], b[index]];
    return one && other ? meetInside(one, other, merging) : (one ?? other ?? emptyShape(""));
  });
}

function bothProperties(
  a: ReadonlyMap<string, Shape>,
  b: ReadonlyMap<string, Shape>,
  merging: Merging,
): ReadonlyMap<string, Shape> {
  const merged = new Map(a);
  for (const [name, property] of b) {
    const own = a.get(name);
    merged.set(name, own === undefined ? property : meetInside(own, property, merging));
  }
  return merged;
}

/** If alternatives contain alternatives, puts all of them into one list. */
function alternativesOf(shape: Shape, report: Report): readonly Shape[] {
  if (shape.anyOf === undefined) return [shape];
  for (const alternative of shape.anyOf) reportMerged(alternative, report);
  return shape.anyOf.flatMap((alternative) => alternativesOf(alternative, report));
}

/** The types that both shapes allow. If one shape allows integers and the other one numbers, the result is integers. */
function commonTypes(a: Shape, b: Shape): ReadonlySet<TypeName> | undefined {
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
function strictest(a: Shape, b: Shape): Pick<Shape, "minimum" | "maximum" | "minItems" | "maxItems"> {
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
function reportChanges(a: Shape, merged: Shape, report: Report): void {
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
