/**
 * Reads a tool's input schema from the caller's side. Many generators list a property with a default as required,
 * although the server fills in the default of a missing property. For a caller, such a property is optional. Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { isList } from "./json-values.ts";
import { holds } from "./keywords.ts";
import { followReference, memberAt, pointerTo } from "./pointer.ts";

/** Is told the path of each list of names that became shorter, and the names that it lost. */
export type ReportOptional = (path: string, keyword: string, names: readonly string[]) => void;

/** The results by input schema. They stay valid, because Fairlead never changes a schema object. */
const schemas = new WeakMap<JsonObject, JsonObject>();

/**
 * Returns the schema that arguments must match: the input schema, in which no property with a default is required.
 * Returns the same object if the input schema requires no such property.
 */
export function argumentSchema(inputSchema: JsonObject): JsonObject {
  const schema = schemas.get(inputSchema) ?? withOptionalDefaults(inputSchema);
  schemas.set(inputSchema, schema).set(schema, schema);
  return schema;
}

/** Maximum depth of a schema that is changed. Deeper parts stay as they are. */
const deepest = 256;
/** Maximum number of `$ref`, `allOf`, `anyOf` and `oneOf` in a row while a default is looked up. */
const longestChain = 16;
/** Maximum number of schemas to look at for defaults. A name that is not looked up any more stays required. */
const mostLookups = 100_000;

/** Keywords whose schemas describe the same value as the schema that contains the keyword. */
const sameValue: ReadonlySet<string> = new Set("allOf anyOf oneOf then else dependentSchemas dependencies".split(" "));
/** Keywords that stay as they are: data, and schemas that a value should not match or need not match. */
const untouched: ReadonlySet<string> = new Set("const default enum examples not if".split(" "));

/** Like `argumentSchema`, with a report of each change. The result is not cached. */
export function withOptionalDefaults(root: JsonObject, report: ReportOptional = () => undefined): JsonObject {
  let lookups = mostLookups;

  /** `around`: the schemas around this one that describe the same value. */
  function visit(schema: unknown, around: readonly JsonObject[], path: string, depth: number): unknown {
    if (!isObject(schema) || depth > deepest) return schema;
    const here = [schema, ...around];
    return mapMembers(schema, (value, keyword) => {
      if (untouched.has(keyword)) return value;
      const at = pointerTo(path, keyword);
      if (keyword === "required") return isList(value) ? withoutDefaulted(value, here, path, keyword) : value;
      const change = (inner: unknown, name: string): unknown => {
        // In `dependentRequired` and `dependencies`, a list has the names of further required properties.
        if (isList(inner) && !isList(value)) return withoutDefaulted(inner, here, at, name);
        return visit(inner, sameValue.has(keyword) ? here : [], pointerTo(at, name), depth + 1);
      };
      if (keyword === "dependentRequired" && isObject(value)) return mapMembers(value, change);
      const held = holds(keyword, value);
      if (held === "list") return mapItems(listOf(value), change);
      if (held === "map" && isObject(value)) return mapMembers(value, change);
      // An unknown keyword is read like a schema, because a `$ref` may point to it.
      return visit(value, sameValue.has(keyword) ? here : [], at, depth + 1);
    });
  }

  function withoutDefaulted(
    names: readonly unknown[],
    here: readonly JsonObject[],
    path: string,
    keyword: string,
  ): readonly unknown[] {
    const optional = names.filter(
      (name) => typeof name === "string" && here.some((schema) => givesDefault(schema, name, longestChain)),
    );
    if (optional.length === 0) return names;
    report(path, keyword, optional.map(String));
    return names.filter((name) => !optional.includes(name));
  }

  function givesDefault(schema: unknown, name: string, chain: number): boolean {
    if (!mayLookUp(chain)) return false;
    if (hasDefault(memberAt(member(schema, "properties"), name), longestChain)) return true;
    return partsOf(schema, root).some((part) => givesDefault(part, name, chain - 1));
  }

  function hasDefault(schema: unknown, chain: number): boolean {
    if (!isObject(schema) || !mayLookUp(chain)) return false;
    return Object.hasOwn(schema, "default") || partsOf(schema, root).some((part) => hasDefault(part, chain - 1));
  }

  function mayLookUp(chain: number): boolean {
    lookups -= 1;
    return chain > 0 && lookups > 0;
  }

  const schema = visit(root, [], "", 0);
  return isObject(schema) ? schema : root;
}

/** The schemas that describe the same value as `schema`, by reference or as an alternative. */
function partsOf(schema: unknown, root: JsonObject): readonly unknown[] {
  const reference = member(schema, "$ref");
  const target = typeof reference === "string" ? [followReference(root, reference)] : [];
  return [...target, ...["allOf", "anyOf", "oneOf"].flatMap((keyword) => listOf(member(schema, keyword)))];
}

/** Changes the members of an object. Returns the same object if no member changes. */
function mapMembers(object: JsonObject, change: (member: unknown, name: string) => unknown): JsonObject {
  const entries = Object.entries(object);
  const changed = entries.map(([name, value]) => [name, change(value, name)] as const);
  return changed.every(([, value], at) => value === entries[at]?.[1]) ? object : Object.fromEntries(changed);
}

/** Changes the items of a list. Returns the same list if no item changes. */
function mapItems(items: readonly unknown[], change: (item: unknown, name: string) => unknown): readonly unknown[] {
  const changed = items.map((item, at) => change(item, String(at)));
  return changed.every((item, at) => item === items[at]) ? items : changed;
}
