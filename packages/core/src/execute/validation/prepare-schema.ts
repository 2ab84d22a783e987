/** Removes the parts of a server's schema that the validator cannot handle, with a warning for each part. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { isCount, isFilled, isFlag, isNumber, isText } from "../../normalise/schema/json-values.ts";
import { holds, holdsSchemas } from "../../normalise/schema/keywords.ts";
import { followReference, pointerTo } from "../../normalise/schema/pointer.ts";

/** A schema that the validator can compile, with warnings about the removed parts. */
export interface PreparedSchema {
  readonly schema: JsonObject;
  readonly dialect: Dialect;
  /** True if a part was removed. The schema then accepts more values than it should. */
  readonly isWeakened: boolean;
  readonly warnings: readonly string[];
}

const maxWarnings = 5;
/** Keywords to remove. `dialectOf` reads `$schema`. With `$async`, the validator would return a promise. */
const dropped = new Set(["$schema", "$async"]);
/** Keywords whose values are data and not schemas. */
const data = new Set(["const", "default", "examples"]);

/**
 * Prepares a server's schema for the validator.
 *
 * @param refusal Returns why a pattern cannot be used; undefined if it can.
 */
export function prepareSchema(root: JsonObject, refusal: (pattern: string) => string | undefined): PreparedSchema {
  const { dialect, warning } = dialectOf(root);
  const omissions = new Map<string, string>();
  const hasNames = refersByName(root);

  /** Whether to remove the part at `path`. Records the reason for a warning. */
  function omits(path: string, reason: string | undefined): boolean {
    if (reason !== undefined) omissions.set(path, reason);
    return reason !== undefined;
  }

  function prepare(value: unknown, path: string): unknown {
    if (typeof value === "boolean") return value;
    if (!isObject(value)) {
      omits(path, `${shownPath(path)} is not a schema`);
      return true;
    }
    const schema = modernised(value, dialect);
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([key, member]) => !dropped.has(key) && !saysNothing(key, member, schema))
        .filter(([key]) => hasNames || key !== "$id")
        .filter(([key, member]) => !omits(pointerTo(path, key), whyOmitted(key, member, schema, pointerTo(path, key))))
        .map(([key, member]) => [key, prepareKeyword(key, member, pointerTo(path, key))]),
    );
  }

  function prepareKeyword(key: string, value: unknown, path: string): unknown {
    if (plain.has(key) || data.has(key)) return value;
    if (Array.isArray(value))
      return holdsSchemas(key) ? value.map((item, at) => prepare(item, pointerTo(path, at))) : value;
    if (!isObject(value)) return value;
    // An unknown keyword is prepared like a schema, because a `$ref` may point to it.
    return holds(key, value) === "map" ? prepareNamed(key, value, path) : prepare(value, path);
  }

  function prepareNamed(key: string, value: JsonObject, path: string): JsonObject {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => key !== "patternProperties" || !omits(pointerTo(path, name), patternOmission(name, path)))
        .map(([name, member]) => {
          const isList = key === "dependencies" && Array.isArray(member);
          return [name, isList ? member : prepare(member, pointerTo(path, name))];
        }),
    );
  }

  function whyOmitted(key: string, value: unknown, schema: JsonObject, path: string): string | undefined {
    if (!fits(key, value)) return `"${clip(key, 40)}" at ${shownPath(path)} is not valid JSON Schema`;
    if (key === "pattern") return patternOmission(String(value), path);
    if (key === "additionalProperties" && Object.keys(schema["patternProperties"] ?? {}).some(refusal))
      return `${shownPath(path)} was not checked, because a pattern in patternProperties of the same schema cannot be used`;
    if (key === "$ref" && !hasNames && followReference(root, String(value)) === undefined)
      return `the reference ${clip(String(value), 100)} at ${shownPath(path)} is outside the schema and is not fetched`;
    return undefined;
  }

  function patternOmission(pattern: string, path: string): string | undefined {
    const why = refusal(pattern);
    if (why === undefined) return undefined;
    return `the pattern ${clip(pattern, 60)} at ${shownPath(path)} was not checked (${clip(why, 100)})`;
  }

  const schema = prepare(root, "");
  const reasons = [...omissions.values()];
  return {
    schema: isObject(schema) ? schema : {},
    dialect,
    isWeakened: reasons.length > 0,
    warnings: [...(warning === undefined ? [] : [warning]), ...inPart(reasons)],
  };
}

function inPart(reasons: readonly string[]): readonly string[] {
  const shown = reasons.slice(0, maxWarnings).map((reason) => `validated only in part: ${reason}`);
  const rest = reasons.length - shown.length;
  return rest > 0 ? [...shown, `validated only in part: ${rest} more places of the schema were not checked`] : shown;
}

/** Whether a keyword restricts nothing. Some programs write null or an empty list for a keyword that is not set. */
function saysNothing(key: string, value: unknown, schema: JsonObject): boolean {
  if (key === "nullable") return value !== true || schema["type"] === undefined;
  return isKnown(key) && (value === null || (Array.isArray(value) && value.length === 0));
}

/** Whether the validator checks values by this keyword. */
function isKnown(key: string): boolean {
  return plain.has(key) || holdsSchemas(key);
}

function fits(key: string, value: unknown): boolean {
  return plain.get(key)?.(value) ?? (!holdsSchemas(key) || holds(key, value) !== "data");
}

function shownPath(path: string): string {
  return path === "" ? "its root" : clip(path, 100);
}

/** Whether the schema contains an `$id` or an anchor that a reference could name. */
function refersByName({ $id, ...root }: JsonObject): boolean {
  if (mentions(root, (key) => key === "$id" || key === "$anchor" || key === "$dynamicAnchor")) return true;
  return typeof $id === "string" && mentions(root, (key, text) => key === "$ref" && !text.startsWith("#"));
}

function mentions(value: unknown, matches: (key: string, text: string) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, member]) =>
    typeof member === "string" ? matches(key, member) : mentions(member, matches),
  );
}

/** Keywords that draft-04 writes as true or false (`exclusiveMinimum`), with the keyword that each one changes. */
const sharpened = new Map([
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
]);
const definitions = new Set(["$ref", "$defs", "definitions", "$id", "$anchor"]);

/** Converts older keywords of one schema, but not of its subschemas. */
function modernised(schema: JsonObject, dialect: Dialect): JsonObject {
  const { $recursiveRef, ...node } = schema;
  if (typeof $recursiveRef === "string") return modernised({ $ref: $recursiveRef, ...node }, dialect);
  if (dialect === "draft-07" && typeof node["$ref"] === "string") return withoutSiblings(node);
  const bounded = withNumericBounds(node);
  return dialect === "2020-12" && Array.isArray(bounded["items"]) ? withPrefixItems(bounded) : bounded;
}

/**
 * Drops the keywords that draft-07 and earlier drafts ignore beside `$ref`. Definitions and unknown keywords stay,
 * because a `$ref` may point to them.
 */
function withoutSiblings(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => definitions.has(key) || !isKnown(key)));
}

/** Converts draft-04's `{ minimum: 1, exclusiveMinimum: true }` to `{ minimum: 1, exclusiveMinimum: 1 }`. */
function withNumericBounds(node: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      const bound = sharpened.get(key);
      if (bound === undefined || typeof value !== "boolean") return [[key, value]];
      return value && node[bound] !== undefined ? [[key, node[bound]]] : [];
    }),
  );
}

/** Converts a list of schemas in `items` to `prefixItems`, as JSON Schema 2020-12 requires. */
function withPrefixItems({ items, additionalItems, ...rest }: JsonObject): JsonObject {
  return { prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }), ...rest };
}

/** The two dialects that the validator supports. Older dialects are converted to them. */
type Dialect = "draft-07" | "2020-12";

const dialectPatterns: readonly (readonly [RegExp, Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft-0[3-7]\//, "draft-07"],
  [/^https?:\/\/json-schema\.org\/draft\/(?:2019-09|2020-12|next)\//, "2020-12"],
  [/^https?:\/\/json-schema\.org\/schema/, "2020-12"],
];

/** The dialect of a schema: 2020-12, unless `$schema` names another one (as MCP specifies). */
function dialectOf({ $schema }: JsonObject): { readonly dialect: Dialect; readonly warning?: string } {
  if (typeof $schema !== "string") return { dialect: "2020-12" };
  const found = dialectPatterns.find(([pattern]) => pattern.test($schema));
  if (found !== undefined) return { dialect: found[1] };
  return {
    dialect: "2020-12",
    warning: `its schema is written for ${clip($schema, 100)}, an unknown dialect; it was read as JSON Schema 2020-12`,
  };
}

const types = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"]);
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/**
 * What the validator accepts as the value of each keyword that contains no schema. A `Map`, because an object would also
 * find inherited names such as `constructor`.
 */
const plain: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  [
    { keywords: "$ref $dynamicRef $id $anchor $dynamicAnchor pattern", fits: isText },
    { keywords: "minimum maximum exclusiveMinimum exclusiveMaximum", fits: isNumber },
    { keywords: "multipleOf", fits: (value: unknown) => isNumber(value) && value > 0 },
    { keywords: "minLength maxLength minItems maxItems", fits: isCount },
    { keywords: "minProperties maxProperties minContains maxContains", fits: isCount },
    { keywords: "uniqueItems", fits: isFlag },
    { keywords: "required", fits: isNames },
    { keywords: "enum", fits: isFilled },
    { keywords: "type", fits: (value: unknown) => [value].flat().every((type) => types.has(type)) },
    {
      keywords: "dependentRequired",
      fits: (value: unknown) => isObject(value) && Object.values(value).every(isNames),
    },
  ].flatMap(({ keywords, fits: check }) => keywords.split(" ").map((keyword) => [keyword, check] as const)),
);
