/** Converts the model's property names in arguments back to the server's. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";
import { baseOf, type SchemaDocument, type Spot } from "../document.ts";
import { isList, isText } from "../json-values.ts";
import { subschemas } from "../keywords.ts";
import { memberAt, pointerTo } from "../pointer.ts";
import { schemaLimits } from "../read/bounds.ts";

interface Restoring {
  readonly document: SchemaDocument;
  /** The model's names → the server's. */
  readonly original: ReadonlyMap<string, string>;
}

/**
 * Creates the conversion. It follows the raw schema, because the compiled one ends where a cycle was cut and arguments
 * may go deeper.
 */
export function restoring(
  document: SchemaDocument,
  renamed: ReadonlyMap<string, string>,
): (args: JsonObject) => JsonObject {
  if (renamed.size === 0) return unchanged;
  const original = new Map([...renamed].map(([name, candidate]) => [candidate, name]));
  return (args) => restoreObject(args, [document.root], 0, { document, original });
}

/** Returns the arguments unchanged. */
export function unchanged(args: JsonObject): JsonObject {
  return args;
}

function restoreValue(value: unknown, spots: readonly Spot[], depth: number, restoring: Restoring): unknown {
  if (spots.length === 0 || depth > schemaLimits.jsonDepth) return value;
  if (isObject(value)) return restoreObject(value, spots, depth, restoring);
  if (!isList(value)) return value;
  const all = speakingOf(spots, restoring.document);
  return value.map((item, index) => {
    const described = all.flatMap((spot) => itemsAt(spot, index));
    return restoreValue(item, described, depth + 1, restoring);
  });
}

/** Renames only properties that the schema names: a free-form object is the server's own data. */
function restoreObject(args: JsonObject, spots: readonly Spot[], depth: number, restoring: Restoring): JsonObject {
  const all = speakingOf(spots, restoring.document);
  return Object.fromEntries(
    Object.entries(args).map(([given, value]) => {
      const name = restoring.original.get(given) ?? given;
      const described = all.flatMap((spot) => inside(spot, "properties", name));
      const isNamed = described.length > 0 || all.some(({ raw }) => asksFor(raw, name));
      return isNamed ? [name, restoreValue(value, described, depth + 1, restoring)] : [given, value];
    }),
  );
}

/** These schemas, and all others about the same value: referenced, combined and conditional ones. */
function speakingOf(spots: readonly Spot[], document: SchemaDocument): readonly Spot[] {
  const found = new Map<string, Spot>();
  const open = [...spots];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { raw, path } = spot;
    if (!isObject(raw) || found.has(path)) continue;
    const base = baseOf(raw, spot.base);
    found.set(path, { raw, path, base });
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const target = isText(raw[keyword]) ? document.resolve(raw[keyword], base) : undefined;
      if (target !== undefined) open.push(target);
    }
    const beside = Object.fromEntries(sameValue.flatMap((name) => (name in raw ? [[name, raw[name]]] : [])));
    open.push(...subschemas(beside, path).map(([inner, innerPath]) => ({ raw: inner, path: innerPath, base })));
  }
  return [...found.values()];
}

const sameValue = ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies"];

function itemsAt({ raw, path, base }: Spot, index: number): readonly Spot[] {
  if (!isObject(raw)) return [];
  const every = ["items", "additionalItems", "contains"].flatMap((name) => {
    const schema = raw[name];
    return isObject(schema) ? [{ raw: schema, path: pointerTo(path, name), base }] : [];
  });
  return [...every, ...["items", "prefixItems"].flatMap((name) => inside({ raw, path, base }, name, String(index)))];
}

/** A subschema of a keyword by name or index. */
function inside({ raw, path, base }: Spot, keyword: string, name: string): readonly Spot[] {
  const inner = memberAt(member(raw, keyword), name);
  return inner === undefined ? [] : [{ raw: inner, path: pointerTo(path, keyword, name), base }];
}

function asksFor(raw: unknown, name: string): boolean {
  const required = isObject(raw) ? raw["required"] : undefined;
  return isList(required) && required.includes(name);
}
