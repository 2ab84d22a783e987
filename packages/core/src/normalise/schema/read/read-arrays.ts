/** Reads keywords of arrays: items and their number. */

import { isObject } from "@fairlead/wire/json";
import { isCount, isFlag, isList, isOpen, isSchema } from "../json-values.ts";
import { childOf, described, drop, hint, type Keyword, keyword, type Place, report, tell } from "../place.ts";
import { inManyWords } from "../write/type-text.ts";

function isItems(value: unknown): value is readonly unknown[] | object | boolean {
  return isList(value) || isSchema(value);
}

/** The keywords of arrays. */
export const arrays: Readonly<Record<string, Keyword>> = {
  prefixItems: keyword(isList, (value, place, name) => {
    hint(place, "array");
    readPrefix(value, place, name);
  }),
  items: keyword(isItems, (value, place, name) => {
    hint(place, "array");
    // Until draft 2019-09 a list here meant `prefixItems`.
    if (!isList(value)) readRest(value, place, name);
    else if (place.shape.prefix !== undefined) drop(place, name, "prefixItems has it.");
    else {
      readPrefix(value, place, name);
      if (value.length > 0) report(place, name, "rewritten", "A list of schemas is written as prefixItems.");
    }
  }),
  additionalItems: keyword(isSchema, (value, place, name) => {
    hint(place, "array");
    if (!isList(place.raw["items"])) drop(place, name, "It counts only beside a list of items.");
    else if (isOpen(value)) drop(place, name, "The value is the default.");
    else {
      readRest(value, place, name);
      if (value !== false) report(place, name, "rewritten", "The schema of further items is written as items.");
    }
  }),
  unevaluatedItems: keyword(isSchema, (value, place, name) => {
    hint(place, "array");
    if (isObject(value) && !isOpen(value)) tell(place, name, `Other items: ${inManyWords(value)}.`);
    else drop(place, name, "The API has no keyword for it.");
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
      report(place, name, "rewritten", "No more items than are described are allowed.");
  }),
  uniqueItems: keyword(isFlag, (value, place, name) => {
    hint(place, "array");
    if (value) tell(place, name, "No two items are equal.");
    else drop(place, name, "The value is the default.");
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
    drop(place, name, "It is empty.");
    return;
  }
  shape.prefix = value.map((member, index) => childOf(place, member, name, index));
  if (reading.dialect.knowsPrefixItems) return;
  const inOrder = value.slice(0, 10).map((member) => described(place, member));
  tell(place, name, `In order: ${inOrder.join(", ")}.`);
}

/** Reads the schema of the items after `prefixItems`, or of all items. */
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
  if ("contains" in place.raw) report(place, name, "moved", "The description says it together with contains.");
  else drop(place, name, "It counts only beside contains.");
}
