/** Converts a schema to JSON Schema draft 2020-12. Replaces older keywords and rewrites references. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { baseOf, openDocument, type SchemaDocument, type Spot } from "../document.ts";
import { isFilled, isFlag, isList, isNumber, isSchema, isText, quote } from "../json-values.ts";
import { fits, holds } from "../keywords.ts";
import { lastStep, pointerTo, stepsOf } from "../pointer.ts";
import { checkWritten } from "../read/bounds.ts";
import { typesIn } from "../read/read-values.ts";
import type { Report } from "../schema-node.ts";

type Entries = (readonly [keyword: string, value: unknown])[];

interface Modernising {
  readonly document: SchemaDocument;
  readonly report: Report;
}

const draft = "https://json-schema.org/draft/2020-12/schema";

/** Converts a tool's input schema. The result always has the type `object`. */
export function modernise(raw: JsonObject, report: Report): JsonObject {
  checkWritten(raw);
  const document = openDocument(raw);
  const schema = modern(document.root, { document, report });
  if (schema["type"] === "object") return schema;
  report("", "type", "type" in raw ? "rewritten" : "added", "Arguments are an object.");
  return Object.fromEntries([["type", "object"], ...Object.entries(schema).filter(([name]) => name !== "type")]);
}

function modern(spot: Spot, context: Modernising): JsonObject {
  const { raw, path } = spot;
  const base = baseOf(raw, spot.base);
  const node = { raw: isObject(raw) ? raw : {}, path, base };
  const entries = Object.entries(node.raw).flatMap(([name, value]) => modernKeyword(name, value, node, context));
  return Object.fromEntries(combined(entries));
}

function modernMember(raw: unknown, path: string, base: string, context: Modernising): unknown {
  if (isFlag(raw)) return raw;
  if (isObject(raw)) return modern({ raw, path, base }, context);
  context.report(...lastStep(path), "rewritten", `${quote(raw)} is not a schema: any value is accepted.`);
  return {};
}

function modernKeyword(name: string, value: unknown, node: Spot & { raw: JsonObject }, context: Modernising): Entries {
  const { raw, path, base } = node;
  const rewritten = (note: string, entries: Entries): Entries => {
    context.report(path, name, "rewritten", note);
    return entries;
  };
  const removed = (note: string): Entries => {
    context.report(path, name, "removed", note);
    return [];
  };
  if (!fits(name, value)) return removed(`${quote(value)} is not a valid value.`);
  switch (name) {
    case "$schema":
      if (path !== "") return removed("Only $schema at the root counts.");
      return value === draft
        ? [[name, value]]
        : rewritten("The schema is now written in draft 2020-12.", [[name, draft]]);
    case "id":
      return "$id" in raw || !isText(value) ? [[name, value]] : rewritten("Renamed to $id.", [["$id", value]]);
    case "$ref":
    case "$recursiveRef":
      return modernised(String(value), name, node, context, removed);
    case "type":
      return modernType(value, raw["nullable"] === true, removed, rewritten);
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return modernBound(name, value, raw, removed, rewritten);
    case "minimum":
    case "maximum":
      return raw[name === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"] === true
        ? rewritten("exclusiveMinimum replaces minimum, or exclusiveMaximum replaces maximum.", [])
        : [[name, value]];
    case "additionalItems":
      if (isReplaced(raw, name, ""))
        return removed("additionalItems has no effect: items is not a list of schemas, or prefixItems is given.");
      return rewritten("additionalItems is now called items.", [
        ["items", modernMember(value, pointerTo(path, name), base, context)],
      ]);
    case "dependencies":
      return rewritten(
        "The keyword dependencies is replaced by dependentRequired and dependentSchemas.",
        modernDependencies(value, node, context),
      );
    case "nullable":
      if (value !== true || typesIn(raw["type"]).length === 0)
        return removed("nullable has no effect: its value is not true, or no type is given.");
      return rewritten("The type null replaces nullable.", []);
  }
  if (name === "items" && isReplaced(raw, name, ""))
    return removed("items has no effect: it is an empty list, or prefixItems is given.");
  const nested = modernNested(name, value, node, context);
  if (name === "definitions") return rewritten("Renamed to $defs.", [["$defs", nested]]);
  if (name === "items" && isList(value))
    return rewritten("items with a list of schemas is now called prefixItems.", [["prefixItems", nested]]);
  return [[name, nested]];
}

type Removed = (note: string) => Entries;
type Rewritten = (note: string, entries: Entries) => Entries;

function modernType(value: unknown, isNullable: boolean, removed: Removed, rewritten: Rewritten): Entries {
  const named = typesIn(value);
  const types = isNullable ? [...new Set([...named, "null"])] : named;
  if (named.length === 0) return removed("The type restricts nothing: it names no JSON Schema type, or all of them.");
  const [only] = types;
  const written = types.length > 1 ? types : only;
  return JSON.stringify(written) === JSON.stringify(value)
    ? [["type", value]]
    : rewritten("The type is now written as in JSON Schema.", [["type", written]]);
}

/** Reads `exclusiveMinimum: true` of draft 4, which makes the `minimum` of the same schema exclusive. */
function modernBound(name: string, value: unknown, raw: JsonObject, removed: Removed, rewritten: Rewritten): Entries {
  if (isNumber(value)) return [[name, value]];
  const bound = raw[name === "exclusiveMinimum" ? "minimum" : "maximum"];
  return value === true && isNumber(bound)
    ? rewritten("The value true of draft 4 is replaced by the number in minimum or maximum.", [[name, bound]])
    : removed("The keyword has no effect: its value is false, or the limit is missing.");
}

function modernised(
  value: string,
  name: string,
  { path, base }: Spot,
  context: Modernising,
  removed: Removed,
): Entries {
  const target = context.document.resolve(value, base);
  /** Nothing is fetched, because a server must not make Fairlead send requests to an address of its choice. */
  if (target === undefined)
    return removed(`The reference leads to ${quote(value)}, which is not part of this schema and is not fetched.`);
  const text = modernReference(value, target, context.document);
  if (text === undefined)
    return removed(`The reference leads to ${quote(value)}, which the converted schema does not contain.`);
  if (text !== value || name !== "$ref") context.report(path, name, "rewritten", `Replaced by ${quote(text)}.`);
  return [["$ref", text]];
}

function modernDependencies(
  value: unknown,
  { raw, path, base }: Spot & { raw: JsonObject },
  context: Modernising,
): Entries {
  const all = Object.entries(Object(value)) as [string, unknown][];
  const rules = all.filter(([name]) => !isReplaced(raw, "dependencies", name));
  const names = rules.filter(([, rule]) => isList(rule));
  const schemas = rules.filter(([, rule]) => isSchema(rule));
  const member = (name: string, rule: unknown): unknown =>
    modernMember(rule, pointerTo(path, "dependencies", name), base, context);
  return [
    ...(names.length > 0 ? [["dependentRequired", Object.fromEntries(names)] as const] : []),
    ...(schemas.length > 0
      ? [["dependentSchemas", Object.fromEntries(schemas.map(([name, rule]) => [name, member(name, rule)]))] as const]
      : []),
  ];
}

function modernNested(
  name: string,
  value: unknown,
  { raw, path, base }: Spot & { raw: JsonObject },
  context: Modernising,
): unknown {
  const member = (inner: unknown, ...segments: readonly (string | number)[]): unknown =>
    modernMember(inner, pointerTo(path, name, ...segments), base, context);
  switch (holds(name, value)) {
    case "schema":
      return member(value);
    case "list":
      return (value as readonly unknown[]).map((inner, index) => member(inner, index));
    case "map": {
      const own = name === "definitions" ? (key: string) => definitionName(raw, key) : (key: string) => key;
      return Object.fromEntries(Object.entries(Object(value)).map(([key, inner]) => [own(key), member(inner, key)]));
    }
    case "data":
      return value;
  }
}

/**
 * Combines the values of two older keywords that became the same new keyword. Two maps are joined. Of two other values,
 * the first is kept.
 */
function combined(entries: Entries): Entries {
  const found = new Map<string, unknown>();
  for (const [name, value] of entries) {
    const earlier = found.get(name);
    if (earlier === undefined) found.set(name, value);
    else if (isObject(earlier) && isObject(value))
      found.set(name, Object.fromEntries([...Object.entries(value), ...Object.entries(earlier)]));
  }
  return [...found];
}

/** The name in `$defs` of a definition that came from the older keyword `definitions`. */
function definitionName(schema: JsonObject, name: string): string {
  const taken = schema["$defs"];
  let candidate = name;
  while (isObject(taken) && Object.hasOwn(taken, candidate)) candidate = `${candidate}_`;
  return candidate;
}

/** Returns the converted reference. Undefined if the converted document does not contain the target. */
function modernReference(reference: string, target: Spot, { root }: SchemaDocument): string | undefined {
  const segments = stepsOf(target.path);
  const renamed = renamedSegments(root.raw, segments);
  if (renamed === undefined) return undefined;
  const at = reference.indexOf("#");
  const isPointer = at >= 0 && reference.startsWith("/", at + 1);
  if (!isPointer || renamed.every((segment, index) => segment === segments[index])) return reference;
  // Writes the reference from the root of the document, because every schema can refer to the root.
  return `#${encodeURI(pointerTo("", ...renamed)).replaceAll("#", "%23")}`;
}

function renamedSegments(root: unknown, segments: readonly string[]): readonly string[] | undefined {
  const renamed: string[] = [];
  let node = root;
  for (let at = 0; at < segments.length && isObject(node); ) {
    const [keyword = "", name = ""] = [segments[at], segments[at + 1]];
    const value = node[keyword];
    const held = holds(keyword, value);
    if (isReplaced(node, keyword, name)) return undefined;
    if (held === "schema" || held === "data") {
      renamed.push(keyword === "additionalItems" ? "items" : keyword);
      if (held === "data") return [...renamed, ...segments.slice(at + 1)];
      node = value;
      at += 1;
    } else {
      renamed.push(modernName(keyword, held));
      if (at + 1 < segments.length) renamed.push(keyword === "definitions" ? definitionName(node, name) : name);
      node = Reflect.get(Object(value), name);
      at += 2;
    }
  }
  return renamed;
}

/** Whether an older keyword has no effect, for example because a newer keyword is also present. */
function isReplaced(schema: JsonObject, keyword: string, name: string): boolean {
  const { items, prefixItems, dependentSchemas } = schema;
  if (keyword === "items") return isList(items) && (items.length === 0 || isFilled(prefixItems));
  if (keyword === "additionalItems") return !isList(items) || isFilled(prefixItems);
  return keyword === "dependencies" && isObject(dependentSchemas) && Object.hasOwn(dependentSchemas, name);
}

function modernName(keyword: string, held: "list" | "map"): string {
  if (keyword === "definitions") return "$defs";
  if (keyword === "dependencies") return "dependentSchemas";
  return keyword === "items" && held === "list" ? "prefixItems" : keyword;
}
