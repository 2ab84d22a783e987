/** Reads keywords of objects and arrays. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { enumerate, isCount, isFlag, isList, isOpen, isSchema, isText, quote } from "../json-values.ts";
import { addNote, childOf, described, drop, hint, type Keyword, keyword, type Place, report, tell } from "../place.ts";
import { pointerTo } from "../pointer.ts";
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
  patternProperties: keyword(isObject, (value, place, name) => {
    hint(place, "object");
    const rules = Object.entries(value).slice(0, 5);
    const told = rules.map(
      ([pattern, schema]) => `Properties named like ${clip(pattern, 100)}: ${inManyWords(schema)}.`,
    );
    if (told.length > 0) tell(place, name, told.join(" "));
    else drop(place, name, "The keyword is empty.");
  }),
  propertyNames: keyword(isSchema, (value, place, name) => {
    hint(place, "object");
    // Many generators write `propertyNames: {"type": "string"}`, which restricts nothing.
    const isAnyText =
      isOpen(value) || (isObject(value) && value["type"] === "string" && Object.keys(value).length === 1);
    if (isAnyText) drop(place, name, "The names of properties are always strings.");
    else tell(place, name, `Names of properties: ${inManyWords(value)}.`);
  }),
  minProperties: keyword(isCount, (value, place, name) => {
    hint(place, "object");
    if (value === 0) drop(place, name, "The keyword has its default value.");
    else tell(place, name, `At least ${value} ${value === 1 ? "property" : "properties"}.`);
  }),
  maxProperties: keyword(isCount, (value, place, name) => {
    hint(place, "object");
    tell(place, name, `At most ${value} ${value === 1 ? "property" : "properties"}.`);
  }),
  dependentRequired: keyword(isObject, readDependencies),
  dependentSchemas: keyword(isObject, readDependencies),
  dependencies: keyword(isObject, readDependencies),
};

function readProperties(value: JsonObject, place: Place, name: string): void {
  hint(place, "object");
  const { shape, reading, path } = place;
  const properties = new Map<string, Shape>();
  const required = new Set(shape.required);
  for (const [property, schema] of Object.entries(value)) {
    if (!reading.names.has(property)) reading.names.set(property, pointerTo(path, name));
    properties.set(property, childOf(place, schema, name, property));
    // Draft 3 has `required` inside the schema of the property.
    if (isObject(schema) && schema["required"] === true) required.add(property);
  }
  shape.properties = properties;
  shape.required = required;
  if (properties.size === 0 && !place.isRoot) drop(place, name, "The keyword is empty.");
}

function readRequired(value: readonly unknown[], place: Place, name: string): void {
  hint(place, "object");
  const { shape, reading, path } = place;
  const names = new Set(value.filter(isText));
  shape.required = new Set([...names, ...shape.required]);
  // A required property may have no schema, so its name is recorded here too.
  for (const property of names) if (!reading.names.has(property)) reading.names.set(property, pointerTo(path, name));
  if (names.size === 0) drop(place, name, "The keyword is empty.");
  else if (names.size < value.length)
    report(place, name, "rewritten", "Repeated names, and values that are not names, are left out.");
}

function readOthers(value: JsonObject | boolean, place: Place, name: string): void {
  hint(place, "object");
  if (value === false) place.shape.isClosed = true;
  if (isObject(value) && !isOpen(value)) tell(place, name, `Other properties: ${inManyWords(value)}.`);
  else drop(place, name, "The model gets only the named properties.");
}

/**
 * Reads rules that apply only if a certain property is given. If a rule is a schema, its properties are added as
 * optional properties.
 */
function readDependencies(value: JsonObject, place: Place, name: string): void {
  hint(place, "object");
  const { nameOf } = place.reading;
  const told: string[] = [];
  const conditional: Shape[] = [];
  for (const [property, rule] of Object.entries(value)) {
    if (isList(rule)) {
      const needed = rule.filter(isText).map((name) => quote(nameOf(name)));
      if (needed.length > 0) told.push(`With ${quote(nameOf(property))}, ${enumerate(needed)} must be given too.`);
    } else if (isSchema(rule) && !isOpen(rule)) {
      told.push(`With ${quote(nameOf(property))}: ${described(place, rule)}.`);
      conditional.push(childOf(place, rule, name, property));
    }
  }
  place.shape.properties = withOptional(place.shape, conditional, place.reading);
  for (const sentence of told.slice(0, 10)) addNote(place.shape, sentence);
  if (told.length === 0) drop(place, name, "The keyword requires nothing.");
  else report(place, name, "moved", `The description says: ${clip(told.join(" "), 300)}`);
}

/** Whether the value is valid for `items`: a schema, or a list of schemas as in older drafts. */
function isItems(value: unknown): value is readonly unknown[] | object | boolean {
  return isList(value) || isSchema(value);
}

/** The functions that read the keywords of arrays, by keyword. */
export const arrays: Readonly<Record<string, Keyword>> = {
  prefixItems: keyword(isList, (value, place, name) => {
    hint(place, "array");
    readPrefix(value, place, name);
  }),
  items: keyword(isItems, (value, place, name) => {
    hint(place, "array");
    // Until draft 2019-09, a list in `items` had the meaning of `prefixItems`.
    if (!isList(value)) readRest(value, place, name);
    else if (place.shape.prefix !== undefined) drop(place, name, "prefixItems already describes these items.");
    else {
      readPrefix(value, place, name);
      if (value.length > 0) report(place, name, "rewritten", "A list of schemas is written as prefixItems.");
    }
  }),
  additionalItems: keyword(isSchema, (value, place, name) => {
    hint(place, "array");
    if (!isList(place.raw["items"]))
      drop(place, name, "additionalItems has no effect unless items is a list of schemas.");
    else if (isOpen(value)) drop(place, name, "The keyword has its default value.");
    else {
      readRest(value, place, name);
      if (value !== false) report(place, name, "rewritten", "`additionalItems` is written as `items`.");
    }
  }),
  unevaluatedItems: keyword(isSchema, (value, place, name) => {
    hint(place, "array");
    if (isObject(value) && !isOpen(value)) tell(place, name, `Other items: ${inManyWords(value)}.`);
    else drop(place, name, "The API has no keyword for this rule.");
  }),
  minItems: keyword(isCount, (value, place) => {
    hint(place, "array");
    place.shape.minItems = value;
  }),
  maxItems: keyword(isCount, (value, place, name) => {
    hint(place, "array");
    const most = place.shape.maxItems;
    place.shape.maxItems = most === undefined ? value : Math.min(value, most);
    if (place.shape.maxItems !== value)
      report(place, name, "rewritten", "More items than the schema describes are not allowed.");
  }),
  uniqueItems: keyword(isFlag, (value, place, name) => {
    hint(place, "array");
    if (value) tell(place, name, "No two items are equal.");
    else drop(place, name, "The keyword has its default value.");
  }),
  contains: keyword(isSchema, (value, place, name) => {
    hint(place, "array");
    tell(place, name, `Contains ${howMany(place)}: ${described(place, value)}.`);
  }),
  minContains: keyword(isCount, readContains),
  maxContains: keyword(isCount, readContains),
};

function readPrefix(value: readonly unknown[], place: Place, name: string): void {
  const { shape, reading } = place;
  if (value.length === 0) {
    drop(place, name, "The keyword is empty.");
    return;
  }
  shape.prefix = value.map((member, index) => childOf(place, member, name, index));
  if (reading.dialect.knowsPrefixItems) return;
  const inOrder = value.slice(0, 10).map((member) => described(place, member));
  tell(place, name, `In order: ${inOrder.join(", ")}.`);
}

/** Reads the schema of the items after `prefixItems`. If there is no `prefixItems`, the schema applies to all items. */
function readRest(value: object | boolean, place: Place, name: string): void {
  const { shape } = place;
  if (value !== false) {
    shape.items = childOf(place, value, name);
    return;
  }
  shape.maxItems = Math.min(shape.maxItems ?? Number.POSITIVE_INFINITY, shape.prefix?.length ?? 0);
  report(place, name, "rewritten", `No further items are allowed: at most ${shape.maxItems}.`);
}

function howMany({ raw }: Place): string {
  const least = isCount(raw["minContains"]) ? raw["minContains"] : 1;
  const most = isCount(raw["maxContains"]) ? ` and at most ${raw["maxContains"]}` : "";
  return `at least ${least}${most} of`;
}

function readContains(_: number, place: Place, name: string): void {
  hint(place, "array");
  if ("contains" in place.raw)
    report(place, name, "moved", "The description explains this keyword together with the keyword contains.");
  else drop(place, name, "minContains and maxContains have no effect without contains.");
}
