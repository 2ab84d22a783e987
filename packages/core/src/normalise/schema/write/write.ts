/**
 * Writes a shape (the rules of a schema) as JSON Schema. The order is fixed, and only keywords that the API supports
 * appear.
 */

import type { JsonObject } from "@fairlead/wire";
import { clip } from "@fairlead/wire/text";
import { isList } from "../json-values.ts";
import { anyItem, anyValue, isNull, nothingSpent, type Spent, spendBytes, spendSubschema } from "../read/bounds.ts";
import { flatten, type Merging, union } from "../read/merge.ts";
import {
  constraints,
  emptyShape,
  itemsOf,
  reportDropped,
  reportMerged,
  type Shape,
  type TypeName,
} from "../read/shape.ts";
import type { ModelDialect, Report } from "../schema-node.ts";

/** The API for which the schema is written, and the state of the compilation. */
export interface Writing {
  readonly dialect: ModelDialect;
  readonly spent: Spent;
  readonly report: Report;
  readonly nameOf: (property: string) => string;
}

/** Maximum characters of one description, so that a server cannot send the model a very long text. */
const longestDescription = 4096;
const longestNotes = 2048;
const longestTitle = 256;

/**
 * Writes a tool's whole input schema. It must be an object, because the API rejects every other type: "parameters
 * schema should be of type OBJECT" (spring-ai #1373).
 */
export function writeRoot(shape: Shape, writing: Writing): JsonObject {
  const merging: Merging = { spent: nothingSpent(), report: writing.report };
  const flat = shape.anyOf === undefined ? shape : flatten(shape, [], merging);
  if (flat.types === undefined) writing.report("", "type", "added", "Arguments are an object.");
  reportForeign(flat, ["object"], writing);
  const { type, ...rest } = writeType(flat, "object", writing);
  return { type, ...wordsOf(flat, writing), properties: {}, ...rest };
}

function write(given: Shape, writing: Writing): JsonObject {
  const shape = satisfiable(given, writing.report);
  const variants = shape.anyOf === undefined ? writeTypes(shape, writing) : writeAlternatives(shape.anyOf, writing);
  if (shape.isNullable === true && !variants.some(({ type }) => type === "null")) variants.push({ type: "null" });
  if (shape.anyOf !== undefined && variants.length === 1) reportCollapse(shape, shape.anyOf, variants, writing);
  return joined(variants, wordsOf(shape, writing), writing);
}

/**
 * Moves contradictory bounds to the description, because such bounds would forbid every call. The server still checks
 * the bounds.
 */
function satisfiable(shape: Shape, report: Report): Shape {
  const { minimum, maximum, minItems, maxItems } = shape;
  const isEmpty = minimum !== undefined && maximum !== undefined && minimum > maximum;
  const isNone = minItems !== undefined && maxItems !== undefined && minItems > maxItems;
  if (!isEmpty && !isNone) return shape;
  const told = [
    ...(isEmpty ? [`At least ${minimum} and at most ${maximum}.`] : []),
    ...(isNone ? [`At least ${minItems} and at most ${maxItems} items.`] : []),
  ];
  const moved = [...(isEmpty ? ["minimum", "maximum"] : []), ...(isNone ? ["minItems", "maxItems"] : [])];
  for (const keyword of moved)
    report(shape.path, keyword, "moved", `No value satisfies both bounds; the description says: ${told.join(" ")}`);
  return {
    ...shape,
    minimum: isEmpty ? undefined : minimum,
    maximum: isEmpty ? undefined : maximum,
    minItems: isNone ? undefined : minItems,
    maxItems: isNone ? undefined : maxItems,
    notes: [...shape.notes, ...told],
  };
}

function reportCollapse(
  { path, title, isMade }: Shape,
  alternatives: readonly Shape[],
  [only]: readonly JsonObject[],
  { report }: Writing,
): void {
  if (isMade !== true) report(path, "anyOf", "merged", "The alternatives are the same.");
  if (title === undefined || only?.["title"] === undefined) return;
  for (const alternative of alternatives) reportMerged(alternative, report);
}

/**
 * Writes one schema for each type, because the API requires exactly one type in a schema. Without a type, it answers
 * "didn't specify the schema type field" (new-api #3022).
 */
function writeTypes(shape: Shape, writing: Writing): JsonObject[] {
  const types = [...(shape.types ?? impliedTypes(shape))];
  if (types.length === 0) return anyValue();
  if (shape.types === undefined)
    writing.report(shape.path, "type", "added", `The other keywords of the schema apply to: ${types.join(", ")}.`);
  reportForeign(shape, types, writing);
  return types.map((type) => writeType(shape, type, writing));
}

function writeAlternatives(alternatives: readonly Shape[], writing: Writing): JsonObject[] {
  const written = alternatives.flatMap((alternative) => {
    const schema = write(alternative, writing);
    const { anyOf } = schema;
    return Array.isArray(anyOf) && Object.keys(schema).length === 1 ? (anyOf as JsonObject[]) : [schema];
  });
  return distinct(joinEnums(written));
}

/**
 * Joins alternatives that differ only in fixed values into one `enum`, because the API limits the number of
 * alternatives.
 */
function joinEnums(schemas: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  const byType = new Map<unknown, Set<unknown>>();
  for (const schema of schemas) {
    const { type, enum: values } = schema;
    const isPlain = isList(values) && Object.keys(schema).length === 2;
    const earlierValues = isPlain ? byType.get(type) : undefined;
    if (earlierValues === undefined) merged.push(schema);
    if (isPlain)
      byType.set(
        type,
        values.reduce<Set<unknown>>((all, value) => all.add(value), earlierValues ?? new Set()),
      );
  }
  return merged.map((schema) => {
    const values = isList(schema["enum"]) && Object.keys(schema).length === 2 ? byType.get(schema["type"]) : undefined;
    return values === undefined ? schema : { ...schema, enum: [...values] };
  });
}

function distinct(schemas: readonly JsonObject[]): JsonObject[] {
  if (schemas.length < 2) return [...schemas];
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function joined(variants: readonly JsonObject[], words: JsonObject, writing: Writing): JsonObject {
  const [only] = variants;
  if (variants.length > 1 || only === undefined) {
    if (variants.length > 2 || !variants.some(isNull)) spendSubschema(writing.spent);
    return { ...words, anyOf: variants };
  }
  if (Object.keys(words).length === 0) return only;
  const { type, title, description, ...rest } = only;
  const both = [words["description"], description].filter((text) => typeof text === "string").join("\n");
  return present({
    type,
    title: words["title"] ?? title,
    description: clip(both, longestDescription) || undefined,
    ...rest,
  });
}

/** The description with its notes. If the text is too long, the description is shortened and the notes stay. */
function wordsOf({ path, title, description = "", notes }: Shape, writing: Writing): JsonObject {
  const told = clip(notes.join(" "), longestNotes);
  const room = longestDescription - (told === "" ? 0 : told.length + 1);
  if (description.length > room) writing.report(path, "description", "rewritten", `Cut to ${room} characters.`);
  const text = [clip(description, room), told].filter((part) => part !== "").join("\n");
  if (title !== undefined && title.length > longestTitle) {
    writing.report(path, "title", "rewritten", `Cut to ${longestTitle} characters.`);
  }
  return present({
    title: title === undefined ? undefined : clip(title, longestTitle),
    description: text || undefined,
  });
}

function writeType(shape: Shape, type: TypeName, writing: Writing): JsonObject {
  if (type !== "null") spendSubschema(writing.spent);
  spendBytes(writing.spent, ((shape.strings?.length ?? 0) + (shape.numbers?.length ?? 0)) * 8);
  const isFormat = shape.format !== undefined && writing.dialect.formats[type]?.includes(shape.format) === true;
  const format = isFormat ? shape.format : undefined;
  const { minimum, maximum, minItems, maxItems } = shape;
  switch (type) {
    case "boolean":
    case "null":
      return { type };
    case "string":
      return present({ type, format, enum: shape.strings });
    case "number":
    case "integer":
      return present({ type, format, enum: shape.numbers, minimum, maximum });
    case "array":
      return present({ type, ...writeItems(shape, writing), minItems, maxItems });
    case "object":
      return present({ type, ...propertiesOf(shape, writing) });
  }
}

/** A member that is undefined would count as a keyword. */
function present(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/** Writes `items` for every array, because the API rejects an array without it: "items: missing field". */
function writeItems({ items, prefix, path }: Shape, writing: Writing): JsonObject {
  const { knowsPrefixItems } = writing.dialect;
  const each = [
    ...(items === undefined || !knowsPrefixItems ? (prefix ?? []) : []),
    ...(items === undefined ? [] : [items]),
  ];
  const shape = each.length === 1 ? each[0] : each.length === 0 ? emptyShape(path) : union(each);
  const written =
    shape === undefined || isFree(shape) ? anyItem(shape && wordsOf(shape, writing)) : write(shape, writing);
  const prefixItems = knowsPrefixItems ? prefix?.map((member) => write(member, writing)) : undefined;
  return { items: written, prefixItems };
}

function isFree(shape: Shape): boolean {
  return (
    shape.types === undefined &&
    impliedTypes(shape).size === 0 &&
    shape.anyOf === undefined &&
    shape.isNullable !== true
  );
}

function impliedTypes({ hints, properties }: Shape): ReadonlySet<TypeName> {
  return properties.size > 0 ? new Set([...hints, "object"]) : hints;
}

function propertiesOf(shape: Shape, writing: Writing): JsonObject {
  const properties = new Map(shape.properties);
  /*
   * The API rejects a required name that is not in `properties`: "required fields [...] are not defined in the schema
   * properties" (gemini-cli #1458).
   */
  const unknown = [...shape.required].filter((name) => !properties.has(name));
  if (unknown.length > 0) {
    const what =
      shape.isClosed === true
        ? "Some properties are not required any more, because the schema does not allow them"
        : "Required properties without a schema now accept any value";
    writing.report(shape.path, "required", "rewritten", `${what}: ${clip(unknown.join(", "), 200)}.`);
    if (shape.isClosed !== true) for (const name of unknown) properties.set(name, emptyShape(shape.path));
  }
  const required = [...shape.required].filter((name) => properties.has(name)).map(writing.nameOf);
  const written = [...properties].map(([name, property]) => [writing.nameOf(name), write(property, writing)] as const);
  return {
    properties: written.length > 0 ? Object.fromEntries(written) : undefined,
    required: required.length > 0 ? required : undefined,
  };
}

/** Reports each keyword that applies only to types which the value cannot have. */
function reportForeign(shape: Shape, types: readonly TypeName[], { report, dialect }: Writing): void {
  const note = `The keyword does not apply to: ${types.join(", ")}.`;
  const { format } = shape;
  const isFormat = format !== undefined && types.some((type) => dialect.formats[type]?.includes(format));
  for (const { member, keyword, types: about } of constraints) {
    const isSaid = member === "format" ? isFormat : about.some((type) => types.includes(type));
    if (shape[member] !== undefined && !isSaid) report(shape.path, keyword, "removed", note);
  }
  const isArray = types.includes("array");
  const isObject = types.includes("object");
  if (!isObject && shape.properties.size > 0) report(shape.path, "properties", "removed", note);
  if (!isObject && shape.required.size > 0) report(shape.path, "required", "removed", note);
  if (!isArray) reportDropped(itemsOf(shape), note, report);
  if (!isObject) reportDropped(shape.properties.values(), note, report);
}
