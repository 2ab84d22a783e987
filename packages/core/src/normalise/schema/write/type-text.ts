/** Writes a JSON Schema as a type, similar to TypeScript. The text has a limited length. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, isShallow, listOf, member, objectOf } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { isNumber, isText, quote } from "../json-values.ts";
import { followReference, referenceName } from "../pointer.ts";
import { type Property, propertiesOf } from "../properties.ts";

/** The limits for the text of one or several types. */
export interface TypeLimits {
  /** Maximum depth of objects inside objects. */
  readonly depth: number;
  /** Maximum number of properties, enum values or alternatives of one schema. */
  readonly members: number;
  /** Maximum number of schemas in total. References can form long chains. */
  readonly parts: number;
}

/** How a type is written as text. */
export interface TypeStyle {
  /** The text for a schema that accepts any value. */
  readonly anything: string;
  /** The text for a schema that accepts no value. */
  readonly nothing: string;
  readonly nameOf: (property: string) => string;
  readonly literal: (value: unknown) => string;
  /**
   * True if the reader (a model) cannot look up details elsewhere. The text then also contains `not`, patterns and
   * bounds, and writes references by name.
   */
  readonly isWhole: boolean;
}

/** The style for the user, who can look up details elsewhere. */
const brief: TypeStyle = { anything: "unknown", nothing: "never", nameOf: toKey, literal: toLiteral, isWhole: false };

/** Writes the types of several schemas of one document. The limits apply to the sum of all schemas. */
export type TypeWriter = (schema: unknown) => string;

/**
 * The alternatives of a union. `isCompound` marks an intersection such as `A & B`, which needs brackets next to other
 * alternatives.
 */
type Type = readonly { readonly text: string; readonly isCompound?: true }[];

/** Creates a writer for schemas in the document `root`. The default style is for the user. */
export function createTypeWriter(root: unknown, limits: TypeLimits, style: TypeStyle = brief): TypeWriter {
  const anything: Type = [{ text: style.anything }];
  const open = new Set<unknown>([root]);
  let parts = limits.parts;

  function write(schema: unknown, depth: number): Type {
    if (schema === false) return [{ text: style.nothing }];
    if (!isObject(schema)) return anything;
    parts -= 1;
    if (parts < 0) return [{ text: "…" }];
    const reference = member(schema, "$ref");
    if (typeof reference === "string" && !style.isWhole) return writeReference(reference, depth);
    const type = writeSchema(schema, depth);
    return member(schema, "nullable") === true ? union([type, [{ text: "null" }]]) : type;
  }

  /** Writes the target of a reference as a type. If the target refers to itself, the inner reference becomes a name. */
  function writeReference(reference: string, depth: number): Type {
    const schema = followReference(root, reference);
    if (open.has(schema)) return [{ text: clip(referenceName(reference) ?? "…", longestWord) }];
    open.add(schema);
    const type = write(schema, depth);
    open.delete(schema);
    return type;
  }

  function writeValues(schema: JsonObject): Type {
    const values = Object.hasOwn(schema, "const") ? [schema["const"]] : listOf(member(schema, "enum"));
    return fold(values, limits.members, style.literal).map((text) => ({ text }));
  }

  /** Joins all rules of a schema. Leaves out a plain type, such as `string`, if another rule is more exact. */
  function writeSchema(schema: JsonObject, depth: number): Type {
    const values = writeValues(schema);
    if (values.length > 0 && !style.isWhole) return values;
    const own = writeTypes(schema, depth);
    const all = listOf(member(schema, "allOf")).slice(0, limits.members);
    const others = [
      values,
      ...writeRest(schema, depth),
      writeUnion(member(schema, "anyOf"), depth),
      writeUnion(member(schema, "oneOf"), depth),
      ...all.map((part) => write(part, depth)),
    ].filter(saysSomething);
    const types = saysSomething(own) && (others.length === 0 || isExact(schema)) ? [own, ...others] : others;
    const texts = [...new Set(types.map(bracketed))];
    if (texts.length > 1) return [{ text: texts.join(" & "), isCompound: true }];
    return types[0] ?? anything;
  }

  function writeRest(schema: JsonObject, depth: number): readonly Type[] {
    if (!style.isWhole) return [];
    const [reference, not] = [member(schema, "$ref"), member(schema, "not")];
    const names = isObject(member(schema, "properties")) ? [] : listOf(member(schema, "required")).filter(isText);
    return [
      ...(isText(reference) ? [[{ text: referenceName(reference) ?? "the whole input" }]] : []),
      ...(names.length > 0 ? [[{ text: `{${fold(names, limits.members, style.nameOf).join(", ")}}` }]] : []),
      ...(not === undefined ? [] : [[{ text: `not ${bracketed(write(not, depth + 1))}` }]]),
    ];
  }

  /** Writes a union. If one alternative accepts any value, the union is written as "any value". */
  function writeUnion(alternatives: unknown, depth: number): Type {
    const all = listOf(alternatives);
    const types = all.slice(0, limits.members).map((one) => write(one, depth));
    if (all.length > limits.members) types.push([{ text: `…+${all.length - limits.members}` }]);
    return types.every(saysSomething) ? union(types) : anything;
  }

  function union(types: readonly Type[]): Type {
    const alternatives = new Map(types.flat().map((alternative) => [alternative.text, alternative]));
    if (alternatives.size <= limits.members + 1) return [...alternatives.values()];
    return [...[...alternatives.values()].slice(0, limits.members), { text: "…" }];
  }

  function writeTypes(schema: JsonObject, depth: number): Type {
    const types = typeWords(schema).map((type): Type => {
      if (type === "array") return [{ text: writeArray(schema, depth) }];
      if (type === "object") return [{ text: writeObject(schema, depth) }];
      return [{ text: clip(type, longestWord) }];
    });
    const details = style.isWhole ? detailsOf(schema).join(" ") : "";
    if (details === "") return union(types);
    return [{ text: `${types.length === 0 ? style.anything : toText(union(types))} ${details}` }];
  }

  function writeArray(schema: JsonObject, depth: number): string {
    const items = member(schema, "items");
    const itemSchemas = [...listOf(member(schema, "prefixItems")), ...listOf(items)];
    if (itemSchemas.length === 0) return `${bracketed(write(items, depth))}[]`;
    return `[${fold(itemSchemas, limits.members, (item) => toText(write(item, depth))).join(", ")}]`;
  }

  function writeObject(schema: JsonObject, depth: number): string {
    const properties = propertiesOf(schema);
    const others = member(schema, "additionalProperties");
    const patterns = Object.values(objectOf(member(schema, "patternProperties"))).slice(0, limits.members);
    // For every 100 properties, an object counts as one more schema towards the limit.
    parts -= Math.floor(properties.length / 100);
    if (properties.length > 0) {
      if (depth >= limits.depth) return "{…}";
      const named = fold(properties, limits.members, (property) => writeProperty(property, depth));
      const rest =
        isObject(others) && Object.keys(others).length > 0 ? [`[key: string]: ${writeInner(others, depth)}`] : [];
      return `{${[...named, ...rest].join(", ")}}`;
    }
    if (patterns.length > 0) return `Record<string, ${toText(union(patterns.map((one) => write(one, depth + 1))))}>`;
    if (others === undefined) return "object";
    return others === false ? "{}" : `Record<string, ${writeInner(others, depth)}>`;
  }

  function writeProperty({ name, required, schema }: Property, depth: number): string {
    return `${style.nameOf(name)}${required ? "" : "?"}: ${writeInner(schema, depth)}`;
  }

  function writeInner(schema: unknown, depth: number): string {
    return toText(write(schema, depth + 1));
  }

  function saysSomething(type: Type): boolean {
    return type.length > 0 && type.every(({ text }) => text !== style.anything);
  }

  return (schema) => toText(write(schema, 0));
}

function detailsOf(schema: JsonObject): readonly string[] {
  const words: readonly (readonly [keyword: string, before: string, after?: string])[] = [
    ["pattern", "matching "],
    ["format", "in the format "],
    ["minimum", "at least "],
    ["maximum", "at most "],
    ["minLength", "of at least ", " characters"],
    ["maxLength", "of at most ", " characters"],
  ];
  return words.flatMap(([keyword, before, after = ""]) => {
    const value = member(schema, keyword);
    return isText(value) || isNumber(value) ? [`${before}${value}${after}`] : [];
  });
}

/** Describes a schema for a model in at most about 300 characters. */
export function inWords(schema: unknown, nameOf: TypeStyle["nameOf"]): string {
  return clip(wholeType(schema, { depth: 3, members: 8, parts: 100 }, nameOf), 300);
}

/** Describes a schema in up to 1500 characters, with the server's own property names. */
export function inManyWords(schema: unknown): string {
  return clip(
    wholeType(schema, { depth: 3, members: 200, parts: 500 }, (name) => name),
    1500,
  );
}

function wholeType(schema: unknown, limits: TypeLimits, nameOf: TypeStyle["nameOf"]): string {
  const style = { anything: "anything", nothing: "nothing", nameOf, literal: quote, isWhole: true };
  return createTypeWriter(schema, limits, style)(schema);
}

function toText(type: Type): string {
  return type.map(({ text }) => text).join(" | ");
}

function bracketed(type: Type): string {
  return type.length > 1 || type[0]?.isCompound ? `(${toText(type)})` : toText(type);
}

/** Whether the type says more than its name, such as `object`: it also describes properties or items. */
function isExact(schema: JsonObject): boolean {
  return ["properties", "items", "prefixItems", "additionalProperties"].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
}

/** The type in the schema. If the schema names no type, the type that its keywords imply. */
function typeWords(schema: JsonObject): readonly string[] {
  const words = [member(schema, "type")]
    .flat()
    .filter((word) => typeof word === "string")
    .filter((word) => word !== "");
  if (words.length > 0) return words.slice(0, 8);
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => Object.hasOwn(schema, keyword));
  if (has("properties", "additionalProperties", "patternProperties")) return ["object"];
  return has("items", "prefixItems") ? ["array"] : [];
}

/**
 * Writes the first items, and the number of items that are left out, such as `…+3`. If only one item would be left out,
 * writes this item.
 */
export function fold<T>(items: readonly T[], most: number, write: (item: T) => string): readonly string[] {
  if (items.length <= most + 1) return items.map(write);
  return [...items.slice(0, most).map(write), `…+${items.length - most}`];
}

const longestWord = 40;
const plainKey = (): RegExp => /^[\p{L}\p{N}_$@.-]+$/u;

/** Quotes a name that is not an identifier. */
export function toKey(name: string): string {
  return plainKey().test(name) ? clip(name, longestWord) : JSON.stringify(clip(name, longestWord));
}

/** Writes a value as JSON, shortened. A deeply nested value becomes "…". */
export function toLiteral(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(clip(value, longestWord));
  return isShallow(value) ? clip(JSON.stringify(value), longestWord) : "…";
}
