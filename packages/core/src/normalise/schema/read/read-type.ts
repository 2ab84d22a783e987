/** Reads `type`: one name, several, or an unknown one. */

import { isList, isText } from "../json-values.ts";
import { drop, type Keyword, keyword, type Place, report } from "../place.ts";
import type { TypeName } from "./shape.ts";

/**
 * Type names in JSON Schema's lower case, in OpenAPI's upper case as Gemini's own SDKs write them, and common mistakes.
 */
const known: ReadonlyMap<string, TypeName | "any"> = new Map<string, TypeName | "any">([
  ["string", "string"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["object", "object"],
  ["array", "array"],
  ["null", "null"],
  ["str", "string"],
  ["text", "string"],
  ["int", "integer"],
  ["long", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["bool", "boolean"],
  ["dict", "object"],
  ["list", "array"],
  ["any", "any"],
]);

function isTypes(value: unknown): value is string | readonly unknown[] {
  return isText(value) || isList(value);
}

/** The keyword `type`. */
export const types: Readonly<Record<string, Keyword>> = {
  type: keyword(isTypes, readType),
};

/** Returns the named types in JSON Schema's spelling; empty if they are no restriction. */
export function typesIn(value: unknown): readonly TypeName[] {
  const usual = isText(value) ? known.get(value) : undefined;
  if (usual !== undefined && usual !== "any") return [usual];
  const written: readonly unknown[] = isList(value) ? value : [value];
  const understood = written.flatMap((type) => (isText(type) ? (known.get(type.toLowerCase()) ?? []) : []));
  const found = understood.filter((type) => type !== "any");
  return found.length < understood.length ? [] : [...new Set(found)];
}

function readType(value: string | readonly unknown[], place: Place, name: string): void {
  // Arguments are always an object: see `parametersJsonSchema` in the Gemini API's types.
  if (place.isRoot) {
    place.shape.types = new Set<TypeName>(["object"]);
    if (value !== "object") report(place, name, "rewritten", "Arguments are an object.");
    return;
  }
  const found = typesIn(value);
  const types = found.includes("number") ? found.filter((type) => type !== "integer") : found;
  if (types.length === 0) {
    drop(place, name, "It names no type of JSON Schema, or every one.");
    return;
  }
  place.shape.types = new Set(types);
  if (value === types[0]) return;
  // The API accepts one type per schema: it answers lists with "Proto field is not repeating, cannot start list" (zed
  // #44875).
  const note =
    types.length > 1 ? "Each type is an alternative of its own." : "One type, in the spelling of JSON Schema.";
  report(place, name, "rewritten", note);
}
