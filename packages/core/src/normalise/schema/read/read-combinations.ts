/** Reads keywords that combine schemas: `allOf`, `anyOf`, `oneOf`, `not` and conditions. */

import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { isFilled, isFlag, isOpen, isSchema } from "../json-values.ts";
import {
  addNote,
  childOf,
  described,
  drop,
  type Keyword,
  keyword,
  type Place,
  partOf,
  report,
  tell,
} from "../place.ts";
import { pointerTo } from "../pointer.ts";
import { spareSubschemas } from "./bounds.ts";
import { flatten, meet, union, withOptional } from "./merge.ts";
import { typesIn } from "./read-values.ts";
import { emptyShape, isConstrained, type Shape } from "./shape.ts";

/**
 * The keywords that combine schemas. A list and not an object, because JavaScript treats an object with a member `then`
 * as a promise.
 */
export const combinations: readonly (readonly [name: string, keyword: Keyword])[] = [
  ["allOf", keyword(isFilled, readAll)],
  ["anyOf", keyword(isFilled, readAlternatives)],
  // The API reads `oneOf` as `anyOf` (Gemini API types, `responseJsonSchema`).
  ["oneOf", keyword(isFilled, readAlternatives)],
  ["not", keyword(isSchema, readNegation)],
  ["if", keyword(isSchema, readCondition)],
  ["then", keyword(isSchema, readConsequence)],
  ["else", keyword(isSchema, readConsequence)],
];

function readAll(value: readonly unknown[], place: Place, name: string): void {
  for (const [index, schema] of value.entries()) {
    const other = partOf(place, schema, name, index);
    const isSecondDescription = place.shape.description !== undefined && other.description !== undefined;
    if (isSecondDescription) addNote(place.shape, other.description ?? "");
    place.shape = meet(place.shape, other, place.reading);
  }
  report(place, name, "merged", "The schemas in allOf are merged into one schema.");
}

function readNegation(value: object | boolean, place: Place, name: string): void {
  if (value === false) drop(place, name, "The keyword has no effect: the value false excludes nothing.");
  else tell(place, name, `Must not be: ${described(place, value)}.`);
}

function readAlternatives(value: readonly unknown[], place: Place, name: string): void {
  const { shape, reading } = place;
  spareSubschemas(reading.spent, value);
  const alternatives = value.flatMap((schema, index) => {
    if (isPossible(schema, place.isRoot)) return [partOf(place, schema, name, index)];
    reading.report(pointerTo(place.path, name), String(index), "removed", "No allowed value matches this alternative.");
    return [];
  });
  if (alternatives.length === 0) {
    drop(place, name, "None of the alternatives can match.");
    return;
  }
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) {
    place.shape = meet(shape, only, reading);
    report(place, name, "merged", "There is only one alternative.");
    return;
  }
  if (!isConstrained(shape) && !place.isRoot) {
    place.shape = { ...shape, anyOf: alternatives };
    if (name !== "anyOf") report(place, name, "rewritten", "The API reads oneOf as anyOf.");
    return;
  }
  // Next to `anyOf`, the API accepts only title and description. Therefore each alternative contains all other rules.
  if (shape.properties.size === 0 && !place.isRoot) {
    report(place, name, "rewritten", "The other rules of the schema are repeated in each alternative.");
    place.shape = meet(shape, union(alternatives), reading);
    return;
  }
  /**
   * Alternatives at the root, or next to properties, become one object that accepts each of them. A note tells the
   * model which properties belong together.
   */
  addNote(shape, `One of: ${clip(value.map((schema) => described(place, schema)).join(" or "), 500)}.`);
  report(
    place,
    name,
    "merged",
    "The properties of the alternatives are merged; the description says which belong together.",
  );
  place.shape = flatten(shape, alternatives, reading);
}

function isPossible(schema: unknown, isRoot: boolean): boolean {
  if (!isRoot || !isObject(schema)) return schema !== false;
  const types = typesIn(schema["type"]);
  return types.length === 0 || types.includes("object");
}

function readCondition(value: unknown, place: Place, name: string): void {
  const { then: consequence, else: alternative } = place.raw;
  const told = [
    ...(isSchema(consequence) && !isOpen(consequence) ? [`then ${described(place, consequence)}`] : []),
    ...(isSchema(alternative) && !isOpen(alternative) ? [`else ${described(place, alternative)}`] : []),
  ];
  if (told.length === 0) {
    drop(place, name, "The condition has no effect: the schemas in then and else require nothing.");
    return;
  }
  if (isObject(value)) {
    const { shape, reading } = place;
    const asked = loosened(childOf(place, value, name));
    place.shape = { ...shape, properties: withOptional(shape, [asked], reading) };
  }
  tell(place, name, `If ${described(place, value)}, ${told.join(", ")}.`);
}

/**
 * The properties in a condition, with their types. Its other rules are left out, because arguments need not meet the
 * condition.
 */
function loosened({ path, origins, types, hints, properties, required, items, anyOf }: Shape): Shape {
  return {
    ...emptyShape(path),
    origins,
    hints,
    required,
    ...(types && { types }),
    ...(items && { items: loosened(items) }),
    ...(anyOf && { anyOf: anyOf.map(loosened), isMade: true }),
    properties: new Map(
      [...properties].map(([name, property]) => [name, { ...loosened(property), required: new Set<string>() }]),
    ),
  };
}

/** Reads `then` or `else`. Adds its properties as optional properties if they appear nowhere else. */
function readConsequence(value: object | boolean, place: Place, name: string): void {
  if (!("if" in place.raw)) {
    drop(place, name, "The keywords then and else have no effect without if.");
    return;
  }
  if (isFlag(value) || !isObject(value) || isOpen(value)) {
    drop(place, name, "The schema in this keyword requires nothing.");
    return;
  }
  const { shape } = place;
  place.shape = { ...shape, properties: withOptional(shape, [childOf(place, value, name)], place.reading) };
  report(place, name, "moved", "The description explains this keyword together with the keyword if.");
}
