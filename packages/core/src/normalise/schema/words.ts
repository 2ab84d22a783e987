/** A schema in a few words, written like a type in TypeScript: for what a description must say because no keyword can. */

import type { JsonObject } from "@fairlead/wire";
import { clip, isList, isNumber, isObject, isOpen, isText, quote } from "./json-values.ts";

const deepest = 3;
const most = 8;

/** Property names as whoever reads it must write them. */
export type NameOf = (property: string) => string;

interface Wording {
  readonly nameOf: NameOf;
  /** How many properties of an object are named. */
  readonly members: number;
}

/** At most some 300 characters, whatever it is given. */
export function inWords(schema: unknown, nameOf: NameOf): string {
  return clip(words(schema, 0, { nameOf, members: most }), 300);
}

/** For what is said nowhere else, and goes to the server as it is written: no name is left out, as long as there is room. */
export function inManyWords(schema: unknown): string {
  return clip(words(schema, 0, { nameOf: (name) => name, members: 200 }), 1500);
}

function words(schema: unknown, depth: number, wording: Wording): string {
  if (schema === false) return "nothing";
  if (!isObject(schema) || isOpen(schema)) return "anything";
  if (depth > deepest) return "…";
  const parts = [
    ...(isText(schema["$ref"]) ? [referenced(schema["$ref"])] : []),
    ...("const" in schema ? [quote(schema["const"])] : []),
    ...(isList(schema["enum"]) ? [alternatives(schema["enum"].slice(0, most + 1).map(quote))] : []),
    ...combined(schema, depth, wording),
  ];
  if (parts.length === 0 || isObject(schema["properties"])) parts.unshift(...typed(schema, depth, wording));
  return parts.length === 0 ? "anything" : parts.join(" & ");
}

function combined(schema: JsonObject, depth: number, wording: Wording): string[] {
  const each = (value: unknown): string[] =>
    isList(value) ? value.slice(0, most + 1).map((member) => words(member, depth + 1, wording)) : [];
  const [anyOf, oneOf, allOf] = [each(schema["anyOf"]), each(schema["oneOf"]), each(schema["allOf"])];
  return [
    ...(anyOf.length > 0 ? [alternatives(anyOf)] : []),
    ...(oneOf.length > 0 ? [alternatives(oneOf)] : []),
    ...allOf.slice(0, most),
    ...("not" in schema ? [`not ${words(schema["not"], depth + 1, wording)}`] : []),
  ];
}

function typed(schema: JsonObject, depth: number, wording: Wording): string[] {
  if (isObject(schema["properties"]) || isList(schema["required"])) return [members(schema, depth, wording)];
  const { type } = schema;
  if (type === "array" || "items" in schema) {
    const { items } = schema;
    return [isObject(items) ? `${bracketed(words(items, depth + 1, wording))}[]` : "array"];
  }
  const name = isList(type) ? alternatives(type.filter(isText)) : isText(type) ? type : "";
  const details = [
    ...(isText(schema["pattern"]) ? [`matching ${schema["pattern"]}`] : []),
    ...(isText(schema["format"]) ? [`in the format ${schema["format"]}`] : []),
    ...(isNumber(schema["minimum"]) ? [`at least ${schema["minimum"]}`] : []),
    ...(isNumber(schema["maximum"]) ? [`at most ${schema["maximum"]}`] : []),
    ...(isNumber(schema["minLength"]) ? [`of at least ${schema["minLength"]} characters`] : []),
    ...(isNumber(schema["maxLength"]) ? [`of at most ${schema["maxLength"]} characters`] : []),
  ];
  if (name === "" && details.length === 0) return [];
  return [[name === "" ? "anything" : name, ...details].join(" ")];
}

function members(schema: JsonObject, depth: number, wording: Wording): string {
  const { nameOf, members: most } = wording;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"].filter(isText).slice(0, most) : [];
  const known = Object.entries(properties)
    .slice(0, most)
    .map(
      ([name, value]) => `${nameOf(name)}${required.includes(name) ? "" : "?"}: ${words(value, depth + 1, wording)}`,
    );
  const unknown = required.filter((name) => !Object.hasOwn(properties, name));
  const left = Object.keys(properties).length > most ? ["…"] : [];
  return `{${[...known, ...unknown.map(nameOf), ...left].join(", ")}}`;
}

function alternatives(items: readonly string[]): string {
  const shown = [...new Set(items)];
  return [...shown.slice(0, most), ...(shown.length > most ? ["…"] : [])].join(" | ");
}

function bracketed(text: string): string {
  return / [|&] /.test(text) && !text.startsWith("{") ? `(${text})` : text;
}

/** The name of what is referred to. */
function referenced(reference: string): string {
  return reference.split(/[/#]/).findLast((segment) => segment !== "") ?? "the whole input";
}
