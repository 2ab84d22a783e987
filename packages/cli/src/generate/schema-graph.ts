/**
 * Follows references between the schemas of one document. Every search is limited, because schemas come from servers.
 */

import { baseOf, type SchemaDocument, type Spot } from "@fairlead/core/normalise/schema/document";
import { subschemas } from "@fairlead/core/normalise/schema/keywords";
import { pointerTo } from "@fairlead/core/normalise/schema/pointer";
import { isObject, listOf, member } from "@fairlead/wire/json";

/** Returns a part of a schema, given the keywords and indexes that lead to it. */
export function subschemaAt({ raw, path, base }: Spot, ...steps: readonly (string | number)[]): Spot {
  const inner = steps.reduce<unknown>(
    (at, step) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined,
    raw,
  );
  return { raw: inner, path: pointerTo(path, ...steps), base: baseOf(inner, base) };
}

/** Returns the schemas in the list of a keyword such as `anyOf`. */
export function partsOf(spot: Spot, keyword: string): readonly Spot[] {
  return listOf(member(spot.raw, keyword)).map((_, at) => subschemaAt(spot, keyword, at));
}

/** Returns the schema that the schema's own `$ref` refers to. */
export function referenceTarget(document: SchemaDocument, { raw, base }: Spot): Spot | undefined {
  const reference = member(raw, "$ref");
  const target = typeof reference === "string" ? document.resolve(reference, base) : undefined;
  return isObject(target?.raw) ? target : undefined;
}

const sameValue = ["allOf", "anyOf", "oneOf"];

/**
 * Whether `start` leads to the schema at the path `goal` through keywords such as `anyOf` and `$ref`, but not through
 * properties. TypeScript does not allow a type that contains itself in this way. `throughLists`: whether to follow list
 * items too.
 */
export function leadsTo(document: SchemaDocument, start: Spot, goal: string, throughLists: boolean): boolean {
  const keywords = throughLists ? [...sameValue, "prefixItems", "items"] : sameValue;
  const open = [start];
  const seen = new Set<string>();
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    if (spot.path === goal) return true;
    if (seen.has(spot.path)) continue;
    seen.add(spot.path);
    const target = referenceTarget(document, spot);
    if (target !== undefined) open.push(target);
    for (const keyword of keywords) open.push(...partsOf(spot, keyword));
    const lists = throughLists ? ["items", "additionalItems"].map((keyword) => subschemaAt(spot, keyword)) : [];
    open.push(...lists.filter(({ raw }) => isObject(raw)));
  }
  return false;
}

/** Maximum number of schemas that `countAlternatives` visits. If there are more, it returns `Infinity`. */
const mostVisits = 1_000;

/** Counts the alternatives of the schema's type, including the alternatives of schemas that it refers to. */
export function countAlternatives(document: SchemaDocument, spot: Spot): number {
  let visits = 0;
  function count(at: Spot): number {
    visits += 1;
    if (visits > mostVisits) return Number.POSITIVE_INFINITY;
    const target = referenceTarget(document, at);
    const unions = ["anyOf", "oneOf"].map((keyword) => partsOf(at, keyword));
    const factors = [
      Math.max(listOf(member(at.raw, "enum")).length, listOf(member(at.raw, "type")).length),
      target === undefined ? 1 : count(target),
      ...unions.map((parts) => parts.reduce((sum, part) => sum + count(part), 0)),
      ...partsOf(at, "allOf").map(count),
    ];
    return factors.reduce((product, factor) => product * Math.max(factor, 1), 1);
  }
  return count(spot);
}

const mostDefinitions = 64;

/**
 * Returns the text of a schema and of all schemas that it refers to. Returns undefined if this text is too long.
 * Schemas with the same text get the same type.
 */
export function closureOf(document: SchemaDocument, start: Spot): string | undefined {
  const found = new Map<string, unknown>();
  const open = [start];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    if (found.has(spot.path)) continue;
    found.set(spot.path, spot.raw);
    if (found.size > mostDefinitions) return undefined;
    open.push(...referencesIn(document, spot));
  }
  return JSON.stringify([start.path, ...[...found].sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function referencesIn(document: SchemaDocument, start: Spot): readonly Spot[] {
  const targets: Spot[] = [];
  const open = [start];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { raw, base } = spot;
    if (!isObject(raw)) continue;
    const target = referenceTarget(document, spot);
    if (target !== undefined) targets.push(target);
    for (const [inner, path] of subschemas(raw, spot.path)) open.push({ raw: inner, path, base: baseOf(inner, base) });
  }
  return targets;
}
