/** Reads keywords that combine schemas: `allOf`, `anyOf`, `oneOf`, `not` and conditions. */

import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { isFilled, isFlag, isOpen, isSchema } from "../json-values.ts";
import { pointerTo } from "../pointer.ts";
import {
  addNote,
  childOf,
  described,
  drop,
  type Keyword,
  keyword,
  partOf,
  report,
  type SchemaNode,
  tell,
} from "../schema-node.ts";
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

function readAll(value: readonly unknown[], node: SchemaNode, name: string): void {
  for (const [index, schema] of value.entries()) {
    const other = partOf(node, schema, name, index);
    const isSecondDescription = node.shape.description !== undefined && other.description !== undefined;
    if (isSecondDescription) addNote(node.shape, other.description ?? "");
    node.shape = meet(node.shape, other, node.reading);
  }
  report(node, name, "merged", "The schemas in allOf are merged into one schema.");
}

function readNegation(value: object | boolean, node: SchemaNode, name: string): void {
  if (value === false) drop(node, name, "The keyword has no effect: the value false excludes nothing.");
  else tell(node, name, `Must not be: ${described(node, value)}.`);
}

function readAlternatives(value: readonly unknown[], node: SchemaNode, name: string): void {
  const { shape, reading } = node;
  spareSubschemas(reading.spent, value);
  const alternatives = value.flatMap((schema, index) => {
    if (isPossible(schema, node.isRoot)) return [partOf(node, schema, name, index)];
    reading.report(pointerTo(node.path, name), String(index), "removed", "No allowed value matches this alternative.");
    return [];
  });
  if (alternatives.length === 0) {
    drop(node, name, "None of the alternatives can match.");
    return;
  }
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) {
    node.shape = meet(shape, only, reading);
    report(node, name, "merged", "There is only one alternative.");
    return;
  }
  if (!isConstrained(shape) && !node.isRoot) {
    node.shape = { ...shape, anyOf: alternatives };
    if (name !== "anyOf") report(node, name, "rewritten", "The API reads oneOf as anyOf.");
    return;
  }
  // Next to `anyOf`, the API accepts only title and description. Therefore each alternative contains all other rules.
  if (shape.properties.size === 0 && !node.isRoot) {
    report(node, name, "rewritten", "The other rules of the schema are repeated in each alternative.");
    node.shape = meet(shape, union(alternatives), reading);
    return;
  }
  /**
   * Alternatives at the root, or next to properties, become one object that accepts each of them. A note tells the
   * model which properties belong together.
   */
  addNote(shape, `One of: ${clip(value.map((schema) => described(node, schema)).join(" or "), 500)}.`);
  report(
    node,
    name,
    "merged",
    "The properties of the alternatives are merged; the description says which belong together.",
  );
  node.shape = flatten(shape, alternatives, reading);
}

function isPossible(schema: unknown, isRoot: boolean): boolean {
  if (!isRoot || !isObject(schema)) return schema !== false;
  const types = typesIn(schema["type"]);
  return types.length === 0 || types.includes("object");
}

function readCondition(value: unknown, node: SchemaNode, name: string): void {
  const { then: consequence, else: alternative } = node.raw;
  const told = [
    ...(isSchema(consequence) && !isOpen(consequence) ? [`then ${described(node, consequence)}`] : []),
    ...(isSchema(alternative) && !isOpen(alternative) ? [`else ${described(node, alternative)}`] : []),
  ];
  if (told.length === 0) {
    drop(node, name, "The condition has no effect: the schemas in then and else require nothing.");
    return;
  }
  if (isObject(value)) {
    const { shape, reading } = node;
    const asked = loosened(childOf(node, value, name));
    node.shape = { ...shape, properties: withOptional(shape, [asked], reading) };
  }
  tell(node, name, `If ${described(node, value)}, ${told.join(", ")}.`);
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
    types,
    items: items && loosened(items),
    anyOf: anyOf?.map(loosened),
    isMade: anyOf !== undefined,
    properties: new Map(
      [...properties].map(([name, property]) => [name, { ...loosened(property), required: new Set<string>() }]),
    ),
  };
}

/** Reads `then` or `else`. Adds its properties as optional properties if they appear nowhere else. */
function readConsequence(value: object | boolean, node: SchemaNode, name: string): void {
  if (!("if" in node.raw)) {
    drop(node, name, "The keywords then and else have no effect without if.");
    return;
  }
  if (isFlag(value) || !isObject(value) || isOpen(value)) {
    drop(node, name, "The schema in this keyword requires nothing.");
    return;
  }
  const { shape } = node;
  node.shape = { ...shape, properties: withOptional(shape, [childOf(node, value, name)], node.reading) };
  report(node, name, "moved", "The description explains this keyword together with the keyword if.");
}
