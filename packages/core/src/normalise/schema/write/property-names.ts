/** Renames properties to names that the API accepts. One reversible mapping applies to the whole schema. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";
import { baseOf, type SchemaDocument, type Spot } from "../document.ts";
import { isList, isText } from "../json-values.ts";
import { subschemas } from "../keywords.ts";
import { memberAt, pointerTo } from "../pointer.ts";
import { schemaLimits } from "../read/bounds.ts";
import type { ModelDialect, Report } from "../schema-node.ts";

/** All names in `properties` and `required`, at any depth, in order of appearance. */
export function propertyNamesIn(raw: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  collect(raw, names);
  return names;
}

function collect(value: object, names: Set<string>): void {
  if (isObject(value)) {
    const { properties, required } = value;
    if (isObject(properties)) for (const name of Object.keys(properties)) names.add(name);
    if (isList(required)) for (const name of required) if (isText(name)) names.add(name);
  }
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) collect(inner, names);
}

/** Maps the server's property names to the model's names. Contains only names that differ. */
export function renamedFor(names: ReadonlySet<string>, dialect: ModelDialect): ReadonlyMap<string, string> {
  const isFine = (name: string): boolean => dialect.propertyName.test(name);
  const taken = new Set([...names].filter(isFine));
  const counts = new Map<string, number>();
  const renamed = new Map<string, string>();
  for (const name of names) {
    if (isFine(name)) continue;
    let candidate = plain(name, dialect);
    const stem = candidate.slice(0, dialect.longestName - 7);
    let count = counts.get(stem) ?? 1;
    for (; taken.has(candidate); count += 1) candidate = `${stem}_${count + 1}`;
    counts.set(stem, count);
    taken.add(candidate);
    renamed.set(name, candidate);
  }
  return renamed;
}

/** Reports renamed properties. @param names The server's property names, with their paths. */
export function reportRenamed(
  names: ReadonlyMap<string, string>,
  renamed: ReadonlyMap<string, string>,
  report: Report,
): void {
  for (const [name, path] of names) {
    const candidate = renamed.get(name);
    if (candidate !== undefined) report(path, name, "renamed", `The name for the model is "${candidate}".`);
  }
}

function plain(name: string, { propertyName, longestName }: ModelDialect): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_]/g, "_");
  const started = propertyName.test(clean.slice(0, 1)) ? clean : `_${clean}`;
  return started.slice(0, longestName);
}

interface Restoring {
  readonly document: SchemaDocument;
  /** The server's names, by the model's names. */
  readonly original: ReadonlyMap<string, string>;
}

/**
 * Returns a function that restores the server's property names in a model's arguments. It follows the server's schema,
 * because the compiled schema may describe fewer levels.
 */
export function restoring(
  document: SchemaDocument,
  renamed: ReadonlyMap<string, string>,
): (args: JsonObject) => JsonObject {
  if (renamed.size === 0) return unchanged;
  const original = new Map([...renamed].map(([name, candidate]) => [candidate, name]));
  return (args) => restoreObject(args, [document.root], 0, { document, original });
}

/** The `restore` function for a schema in which no property was renamed. */
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

/** Restores only names of properties that the server's schema describes or requires. Other names stay unchanged. */
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

/**
 * Returns the given schemas, and all schemas that they reach by references, combinations and conditions. Each of them
 * describes the same value.
 */
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

function inside({ raw, path, base }: Spot, keyword: string, name: string): readonly Spot[] {
  const inner = memberAt(member(raw, keyword), name);
  return inner === undefined ? [] : [{ raw: inner, path: pointerTo(path, keyword, name), base }];
}

function asksFor(raw: unknown, name: string): boolean {
  const required = isObject(raw) ? raw["required"] : undefined;
  return isList(required) && required.includes(name);
}
