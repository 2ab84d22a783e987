/** Converts the text of `key=value` to the type that the tool's schema requires. Pure functions. */

import { type JsonType, shapesOf, takes, type ValueShape } from "@fairlead/core/normalise";
import { closest, duplicateName, inexactNumber } from "@fairlead/core/plain-text";
import { isShallow } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";

/** The value of one argument, or why the text cannot be converted. */
export type Coerced =
  | { readonly kind: "value"; readonly value: unknown }
  /** `reason` follows the argument's name in a message, for example "is not JSON". */
  | { readonly kind: "mistake"; readonly reason: string };

/**
 * Converts text to a value. Keeps the text if the schema allows a string. Otherwise parses the text as JSON. A single
 * value becomes a list if the schema requires a list.
 *
 * @param root The whole schema, in which `$ref` is resolved.
 */
export function coerce(text: string, schema: unknown, root: unknown = schema): Coerced {
  const shapes = shapesOf(schema, root);
  if (shapes.length === 0 || shapes.some((shape) => takes(shape, text))) return { kind: "value", value: text };
  const read = readJson(text);
  if (read.kind === "json" && shapes.some((shape) => takes(shape, read.value))) return exactly(text, read.value);
  const list = shapes.find(isList);
  if (list === undefined || text.startsWith("[")) return mistake(shapes, text);
  // "a,b" may mean one value or two, so Fairlead does not split it and asks the user to repeat the argument.
  if (text.includes(",")) return mistake([list], text, "; repeat the argument for each value");
  const item = coerce(text, list.items, root);
  return item.kind === "value" ? { kind: "value", value: [item.value] } : item;
}

/** Returns the schema of the list items. Returns undefined if the schema allows no list. */
export function listItemsOf(schema: unknown, root: unknown): { readonly items: unknown } | undefined {
  return shapesOf(schema, root).find(isList);
}

/** Parses JSON and refuses inexact numbers and duplicate keys. */
export function parseExactJson(text: string): Coerced {
  const read = readJson(text);
  return read.kind === "json"
    ? exactly(text, read.value)
    : { kind: "mistake", reason: `is not JSON: ${read.complaint}` };
}

type Read = { readonly kind: "json"; readonly value: unknown } | { readonly kind: "text"; readonly complaint: string };

function readJson(text: string): Read {
  try {
    return { kind: "json", value: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: "text", complaint: errorMessage(error) };
  }
}

function exactly(text: string, value: unknown): Coerced {
  const inexact = inexactNumber(text);
  const twice = duplicateName(text);
  if (inexact !== undefined)
    return { kind: "mistake", reason: `has a number that JavaScript cannot hold exactly: ${inexact}` };
  if (twice !== undefined) return { kind: "mistake", reason: `has the key "${twice}" twice in one object` };
  return { kind: "value", value };
}

function isList({ types, values }: ValueShape): boolean {
  return types.has("array") && values === undefined;
}

const names: Readonly<Record<JsonType, string>> = {
  string: "text",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON array",
  null: "null",
};
const mostChoices = 20;

function mistake(shapes: readonly ValueShape[], text: string, hint = ""): Coerced {
  const kinds = new Set(shapes.flatMap(({ types, values }) => (values ? [] : [...types])));
  const choices = shapes
    .flatMap(({ values = [] }) => values)
    .filter((value) => isShallow(value))
    .map(toWord);
  const shown = [...choices.slice(0, mostChoices), ...(choices.length > mostChoices ? ["…"] : [])];
  const wanted = [
    ...(shown.length > 0 ? [`one of ${shown.join(", ")}`] : []),
    ...[...kinds].map((kind) => names[kind]),
  ].join(" or ");
  const near = closest(text, choices);
  const suggestion = near === undefined ? hint : `; did you mean ${near}?`;
  return { kind: "mistake", reason: `must be ${wanted}, not ${JSON.stringify(text)}${suggestion}` };
}

/** Returns the value as the user can type it after `key=`. */
function toWord(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
