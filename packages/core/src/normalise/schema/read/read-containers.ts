/** Reads keywords of objects and arrays. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { enumerate, isCount, isFlag, isList, isOpen, isSchema, isText, quote } from "../json-values.ts";
import { pointerTo } from "../pointer.ts";
import {
  addNote,
  childOf,
  described,
  drop,
  hint,
  type Keyword,
  keyword,
  report,
  type SchemaNode,
  tell,
} from "../schema-node.ts";
import { inManyWords } from "../write/type-text.ts";
import { withOptional } from "./merge.ts";
import type { Shape } from "./shape.ts";

/** The functions that read the keywords of objects, by keyword. */
export const objects: Readonly<Record<string, Keyword>> = {
  properties: keyword(isObject, readProperties),
  required: keyword(isList, readRequired),
  /*
   * `additionalProperties` and `unevaluatedProperties` are removed at every depth, as Gemini CLI's documentation
   * requires ("schema processing").
   */
  additionalProperties: keyword(isSchema, readOthers),
  unevaluatedProperties: keyword(isSchema, readOthers),
  patternProperties: keyword(isObject, (value, node, name) => {
    hint(node, "object");
    const rules = Object.entries(value).slice(0, 5);
    const told = rules.map(
      ([pattern, schema]) => `Properties named like ${clip(pattern, 100)}: ${inManyWords(schema)}.`,
    );
    if (told.length > 0) tell(node, name, told.join(" "));
    else drop(node, name, "The keyword is empty.");
  }),
  propertyNames: keyword(isSchema, (value, node, name) => {
    hint(node, "object");
    // Many generators write `propertyNames: {"type": "string"}`, which restricts nothing.
    const isAnyText =
      isOpen(value) || (isObject(value) && value["type"] === "string" && Object.keys(value).length === 1);
    if (isAnyText) drop(node, name, "The names of properties are always strings.");
    else tell(node, name, `Names of properties: ${inManyWords(value)}.`);
  }),
  minProperties: keyword(isCount, (value, node, name) => {
    hint(node, "object");
    if (value === 0) drop(node, name, "The keyword has its default value.");
    else tell(node, name, `At least ${value} ${value === 1 ? "property" : "properties"}.`);
  }),
  maxProperties: keyword(isCount, (value, node, name) => {
    hint(node, "object");
    tell(node, name, `At most ${value} ${value === 1 ? "property" : "properties"}.`);
  }),
  dependentRequired: keyword(isObject, readDependencies),
  dependentSchemas: keyword(isObject, readDependencies),
  dependencies: keyword(isObject, readDependencies),
};

function readProperties(value: JsonObject, node: SchemaNode, name: string): void {
  hint(node, "object");
  const { shape, reading, path } = node;
  const properties = new Map<string, Shape>();
  const required = new Set(shape.required);
  for (const [property, schema] of Object.entries(value)) {
    if (!reading.names.has(property)) reading.names.set(property, pointerTo(path, name));
    properties.set(property, childOf(node, schema, name, property));
    // Draft 3 has `required` inside the schema of the property.
    if (isObject(schema) && schema["required"] === true) required.add(property);
  }
  shape.properties = properties;
  shape.required = required;
  if (properties.size === 0 && !node.isRoot) drop(node, name, "The keyword is empty.");
}

function readRequired(value: readonly unknown[], node: SchemaNode, name: string): void {
  hint(node, "object");
  const { shape, reading, path } = node;
  const names = new Set(value.filter(isText));
  shape.required = new Set([...names, ...shape.required]);
  // A required property may have no schema, so its name is recorded here too.
  for (const property of names) if (!reading.names.has(property)) reading.names.set(property, pointerTo(path, name));
  if (names.size === 0) drop(node, name, "The keyword is empty.");
  else if (names.size < value.length)
    report(node, name, "rewritten", "Repeated names, and values that are not names, are left out.");
}

function readOthers(value: JsonObject | boolean, node: SchemaNode, name: string): void {
  hint(node, "object");
  if (value === false) node.shape.isClosed = true;
  if (isObject(value) && !isOpen(value)) tell(node, name, `Other properties: ${inManyWords(value)}.`);
  else drop(node, name, "The model gets only the named properties.");
}

/**
 * Reads rules that apply only if a certain property is given. If a rule is a schema, its properties are added as
 * optional properties.
 */
function readDependencies(value: JsonObject, node: SchemaNode, name: string): void {
  hint(node, "object");
  const { nameOf } = node.reading;
  const told: string[] = [];
  const conditional: Shape[] = [];
  for (const [property, rule] of Object.entries(value)) {
    if (isList(rule)) {
      const needed = rule.filter(isText).map((name) => quote(nameOf(name)));
      if (needed.length > 0) told.push(`With ${quote(nameOf(property))}, ${enumerate(needed)} must be given too.`);
    } else if (isSchema(rule) && !isOpen(rule)) {
      told.push(`With ${quote(nameOf(property))}: ${described(node, rule)}.`);
      conditional.push(childOf(node, rule, name, property));
    }
  }
  node.shape.properties = withOptional(node.shape, conditional, node.reading);
  for (const sentence of told.slice(0, 10)) addNote(node.shape, sentence);
  if (told.length === 0) drop(node, name, "The keyword requires nothing.");
  else report(node, name, "moved", `The description says: ${clip(told.join(" "), 300)}`);
}

/** Whether the value is valid for `items`: a schema, or a list of schemas as in older drafts. */
function isItems(value: unknown): value is readonly unknown[] | object | boolean {
  return isList(value) || isSchema(value);
}

/** The functions that read the keywords of arrays, by keyword. */
export const arrays: Readonly<Record<string, Keyword>> = {
  prefixItems: keyword(isList, (value, node, name) => {
    hint(node, "array");
    readPrefix(value, node, name);
  }),
  items: keyword(isItems, (value, node, name) => {
    hint(node, "array");
    // Until draft 2019-09, a list in `items` had the meaning of `prefixItems`.
    if (!isList(value)) readRest(value, node, name);
    else if (node.shape.prefix !== undefined) drop(node, name, "prefixItems already describes these items.");
    else {
      readPrefix(value, node, name);
      if (value.length > 0) report(node, name, "rewritten", "A list of schemas is written as prefixItems.");
    }
  }),
  additionalItems: keyword(isSchema, (value, node, name) => {
    hint(node, "array");
    if (!isList(node.raw["items"]))
      drop(node, name, "additionalItems has no effect unless items is a list of schemas.");
    else if (isOpen(value)) drop(node, name, "The keyword has its default value.");
    else {
      readRest(value, node, name);
      if (value !== false) report(node, name, "rewritten", "`additionalItems` is written as `items`.");
    }
  }),
  unevaluatedItems: keyword(isSchema, (value, node, name) => {
    hint(node, "array");
    if (isObject(value) && !isOpen(value)) tell(node, name, `Other items: ${inManyWords(value)}.`);
    else drop(node, name, "The API has no keyword for this rule.");
  }),
  minItems: keyword(isCount, (value, node) => {
    hint(node, "array");
    node.shape.minItems = value;
  }),
  maxItems: keyword(isCount, (value, node, name) => {
    hint(node, "array");
    const most = node.shape.maxItems;
    node.shape.maxItems = most === undefined ? value : Math.min(value, most);
    if (node.shape.maxItems !== value)
      report(node, name, "rewritten", "More items than the schema describes are not allowed.");
  }),
  uniqueItems: keyword(isFlag, (value, node, name) => {
    hint(node, "array");
    if (value) tell(node, name, "No two items are equal.");
    else drop(node, name, "The keyword has its default value.");
  }),
  contains: keyword(isSchema, (value, node, name) => {
    hint(node, "array");
    tell(node, name, `Contains ${howMany(node)}: ${described(node, value)}.`);
  }),
  minContains: keyword(isCount, readContains),
  maxContains: keyword(isCount, readContains),
};

function readPrefix(value: readonly unknown[], node: SchemaNode, name: string): void {
  const { shape, reading } = node;
  if (value.length === 0) {
    drop(node, name, "The keyword is empty.");
    return;
  }
  shape.prefix = value.map((member, index) => childOf(node, member, name, index));
  if (reading.dialect.knowsPrefixItems) return;
  const inOrder = value.slice(0, 10).map((member) => described(node, member));
  tell(node, name, `In order: ${inOrder.join(", ")}.`);
}

/** Reads the schema of the items after `prefixItems`. If there is no `prefixItems`, the schema applies to all items. */
function readRest(value: object | boolean, node: SchemaNode, name: string): void {
  const { shape } = node;
  if (value !== false) {
    shape.items = childOf(node, value, name);
    return;
  }
  shape.maxItems = Math.min(shape.maxItems ?? Number.POSITIVE_INFINITY, shape.prefix?.length ?? 0);
  report(node, name, "rewritten", `No further items are allowed: at most ${shape.maxItems}.`);
}

function howMany({ raw }: SchemaNode): string {
  const least = isCount(raw["minContains"]) ? raw["minContains"] : 1;
  const most = isCount(raw["maxContains"]) ? ` and at most ${raw["maxContains"]}` : "";
  return `at least ${least}${most} of`;
}

function readContains(_: number, node: SchemaNode, name: string): void {
  hint(node, "array");
  if ("contains" in node.raw)
    report(node, name, "moved", "The description explains this keyword together with the keyword contains.");
  else drop(node, name, "minContains and maxContains have no effect without contains.");
}
