/** Removes from a server's schema what the validator cannot handle, with a warning for each part. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { followReference, pointerTo } from "../../normalise/schema/pointer.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { shapes } from "./keyword-shapes.ts";
import { modernised } from "./older-dialects.ts";

/** A schema that the validator accepts. */
export interface PreparedSchema {
  readonly schema: JsonObject;
  readonly dialect: Dialect;
  /** Whether a part was removed, so that the schema accepts more than it should. */
  readonly isWeakened: boolean;
  readonly warnings: readonly string[];
}

const maxWarnings = 5;
/** `$schema` is read once for the whole schema; `$async` would turn the result into a promise. */
const dropped = new Set(["$schema", "$async"]);
/** Keywords whose values are data, even if they look like schemas. */
const data = new Set(["const", "default", "examples"]);

/** Prepares a schema. `refusal` returns why a pattern cannot be used. */
export function prepareSchema(root: JsonObject, refusal: (pattern: string) => string | undefined): PreparedSchema {
  const { dialect, warning } = dialectOf(root);
  const omissions = new Map<string, string>();
  const hasNames = refersByName(root);

  /** Adds a warning if there is a reason; returns whether the part is removed. */
  function omits(path: string, reason: string | undefined): boolean {
    if (reason !== undefined) omissions.set(path, reason);
    return reason !== undefined;
  }

  function prepare(value: unknown, path: string): unknown {
    if (typeof value === "boolean") return value;
    if (!isObject(value)) {
      omits(path, `${place(path)} is not a schema`);
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
    const kind = shapes.get(key)?.kind;
    if (kind === "plain" || data.has(key)) return value;
    if (Array.isArray(value))
      return kind === undefined ? value : value.map((item, at) => prepare(item, pointerTo(path, at)));
    if (!isObject(value)) return value;
    // An unknown keyword may hold schemas too: a reference can lead into it.
    return kind === "named schemas" ? prepareNamed(key, value, path) : prepare(value, path);
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
    if (!fits(key, value)) return `"${clip(key, 40)}" at ${place(path)} is not valid JSON Schema`;
    if (key === "pattern") return patternOmission(String(value), path);
    if (key === "additionalProperties" && Object.keys(schema["patternProperties"] ?? {}).some(refusal))
      return `${place(path)} was not checked, because a pattern beside it cannot be`;
    if (key === "$ref" && !hasNames && followReference(root, String(value)) === undefined)
      return `the reference ${clip(String(value), 100)} at ${place(path)} is outside the schema and is not fetched`;
    return undefined;
  }

  function patternOmission(pattern: string, path: string): string | undefined {
    const why = refusal(pattern);
    if (why === undefined) return undefined;
    return `the pattern ${clip(pattern, 60)} at ${place(path)} was not checked (${clip(why, 100)})`;
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

/** Some programs write every member of a record, including empty ones. `nullable` has a meaning only beside a type. */
function saysNothing(key: string, value: unknown, schema: JsonObject): boolean {
  if (key === "nullable") return value !== true || schema["type"] === undefined;
  return shapes.has(key) && (value === null || (Array.isArray(value) && value.length === 0));
}

function fits(key: string, value: unknown): boolean {
  const shape = shapes.get(key);
  switch (shape?.kind) {
    case "plain":
      return shape.fits(value);
    case "schemas":
      return Array.isArray(value);
    case "named schemas":
      return isObject(value);
    case "schema":
      return isObject(value) || typeof value === "boolean" || (key === "items" && Array.isArray(value));
    case undefined:
      return true;
  }
}

function place(path: string): string {
  return path === "" ? "its root" : clip(path, 100);
}

/**
 * If a schema names its parts with `$id` or anchors, only the validator can resolve its references. An unused name does
 * not count.
 */
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
