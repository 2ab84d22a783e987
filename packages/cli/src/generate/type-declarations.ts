/**
 * Writes JSON Schemas as TypeScript types. A type leaves out rules that TypeScript cannot express (lengths, patterns,
 * `not`, conditions), so it accepts every value that validation accepts.
 */

import { HostError } from "@fairlead/core/errors";
import {
  baseOf,
  lastStep,
  openDocument,
  pointerTo,
  type SchemaDocument,
  type Spot,
  subschemas,
  textOf,
} from "@fairlead/core/normalise";
import { prepareSchema } from "@fairlead/core/request";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member, objectOf } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { createNames, toDocComment, toLiteralType, toPropertyKey, toTypeName } from "./source-text.ts";

/** Writes the type declarations of one module. */
export interface TypeDeclarations {
  /** Reserves a name for a declaration. If the name is already used, returns the name with a number. */
  readonly claim: (name: string) => string;
  /**
   * Writes a schema as the type `name`, which must be reserved first. Adds a declaration to `declarations` if the type
   * needs one.
   */
  readonly write: (schema: unknown, name: string) => WrittenType;
  readonly declarations: readonly string[];
}

interface WrittenType {
  /** The type's name, or the type itself if it is so short that it needs no name. */
  readonly text: string;
  /** Whether the type accepts `{}`. */
  readonly takesEmpty: boolean;
}

/** Beyond this depth or this number of schemas, types become `unknown`, because compilers limit the size of types. */
const deepest = 24;
const mostSchemas = 5_000;
const longestDescription = 600;

/** Where a type is used. TypeScript allows a type to contain itself only in some places, such as an object's member. */
interface TypeContext {
  /**
   * The path of the named type that must not contain itself here. Undefined inside an object, where a type may contain
   * itself.
   */
  readonly owner?: string;
  /** The kind of the innermost list. A type may contain itself in an array, but not always in a tuple. */
  readonly list?: "array" | "tuple";
  readonly depth: number;
}

/** Creates a writer of type declarations. `taken`: names that the module already uses. */
export function createTypeDeclarations(taken: Iterable<string>): TypeDeclarations {
  const claim = createNames(taken);
  const declarations: string[] = [];
  /**
   * The type names of schema definitions, by the definition's text. Servers repeat the same definition in many tools.
   * All these tools then use one type.
   */
  const shared = new Map<string, string>();

  function write(raw: unknown, name: string): WrittenType {
    const document = toDocument(raw);
    if (document === undefined) return { text: toText(anyObject), takesEmpty: true };
    const names = new Map([["", name]]);
    const waiting: { readonly name: string; readonly spot: Spot }[] = [];
    const typeOf = createSpotWriter(document, (target) => {
      const existing = names.get(target.path);
      if (existing !== undefined) return existing;
      const closure = closureOf(document, target) ?? `${name} ${target.path}`;
      const given = shared.get(closure) ?? claim(definitionName(name, target.path));
      if (!shared.has(closure)) waiting.push({ name: given, spot: target });
      shared.set(closure, given);
      names.set(target.path, given);
      return given;
    });
    const type = typeOf(document.root, { owner: "", depth: 0 });
    const { required } = objectOf(document.root.raw);
    const takesEmpty = isObjectText(type) && listOf(required).length === 0;
    if (type === anyObject || type === emptyObject || isUnknown(type)) return { text: toText(type), takesEmpty };
    declarations.push(declare(name, type, document.root.raw));
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      declarations.push(declare(next.name, typeOf(next.spot, { owner: next.spot.path, depth: 0 }), next.spot.raw));
    return { text: name, takesEmpty };
  }

  return { claim, write, declarations };
}

/** Converts a schema to the form that validation uses. Returns undefined if the schema is too large for a type. */
function toDocument(raw: unknown): SchemaDocument | undefined {
  try {
    textOf(raw);
    const { schema } = prepareSchema(objectOf(raw), () => undefined);
    return openDocument(schema);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

const containers: ReadonlySet<string> = new Set(["$defs", "definitions"]);

/**
 * Returns a type name for the schema that a reference points to: its name in `$defs` or `definitions`. If the schema is
 * elsewhere, returns `prefix` and the last part of the schema's path.
 */
function definitionName(prefix: string, path: string): string {
  const [around, name] = lastStep(path);
  return containers.has(lastStep(around)[1]) ? toTypeName(name) : toTypeName(prefix, name);
}

function isObjectText({ alternatives, isIntersection }: TypeText): boolean {
  return alternatives.length === 1 && isIntersection !== true && alternatives[0]?.startsWith("{") === true;
}

function declare(name: string, type: TypeText, raw: unknown): string {
  const written = isObjectText(type) ? `interface ${name} ${toText(type)}` : `type ${name} = ${toText(type)};`;
  return [...commentOf(raw), `export ${written}`].join("\n");
}

/** Returns the description of a schema, and the rules that its type cannot express. */
function commentOf(raw: unknown): readonly string[] {
  const { description, title, deprecated, ...rules } = objectOf(raw);
  const words = [description, title].find((text) => typeof text === "string" && text !== "");
  const facts = told.flatMap((keyword) => {
    const value = Object.hasOwn(rules, keyword) ? toLiteralType(rules[keyword]) : undefined;
    return value === undefined ? [] : [`${keyword}: ${value}`];
  });
  const tags = deprecated === true ? ["@deprecated"] : [];
  return toDocComment(typeof words === "string" ? clip(words, longestDescription) : "", facts.join(", "), tags);
}

const told = [
  "format",
  "default",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
];

/**
 * Returns a function that writes the schemas of one document. `nameOf` returns the type name of a reference's target.
 */
function createSpotWriter(
  document: SchemaDocument,
  nameOf: (target: Spot) => string,
): (spot: Spot, context: TypeContext) => TypeText {
  let left = mostSchemas;

  function write(spot: Spot, context: TypeContext): TypeText {
    const { raw } = spot;
    if (raw === false) return neverType;
    left -= 1;
    if (!isObject(raw) || context.depth > deepest || left < 0) return unknownType;
    const here = { ...context, depth: context.depth + 1 };
    return intersectionOf([
      { type: ownType(spot, raw, here), count: () => listOf(raw["enum"]).length },
      ...reference(spot, here),
      ...["anyOf", "oneOf"].map((keyword) => alternatives(partsOf(spot, keyword), here)),
      ...partsOf(spot, "allOf").map((part) => alternatives([part], here)),
    ]);
  }

  function alternatives(parts: readonly Spot[], context: TypeContext): KeywordType {
    if (parts.length === 0) return { type: unknownType, count: () => 1 };
    const count = (): number => parts.reduce((sum, part) => sum + countAlternatives(document, part), 0);
    return { type: unionOf(parts.map((part) => write(part, context))), count };
  }

  function reference(spot: Spot, { owner, list: around }: TypeContext): readonly KeywordType[] {
    const target = referenceTarget(document, spot);
    if (target === undefined) return [];
    const isGuarded = owner === undefined || around === "array";
    if (!isGuarded && leadsTo(document, target, owner, around === "tuple")) return [];
    return [{ type: { alternatives: [nameOf(target)] }, count: () => countAlternatives(document, target) }];
  }

  /** Writes the type that `type`, `enum`, `const` and the keywords of objects and lists require. */
  function ownType(spot: Spot, raw: JsonObject, context: TypeContext): TypeText {
    const types = typesOf(raw);
    const values = Object.hasOwn(raw, "const") ? [raw["const"]] : listOf(raw["enum"]);
    if (values.length > 0)
      return literalsOf(values.filter((value) => types.length === 0 || types.some((type) => isOfType(value, type))));
    if (types.length === 0) return unknownType;
    return unionOf(
      types.map((type): TypeText => {
        if (type === "object") return object(spot, raw, { depth: context.depth });
        if (type === "array") return list(spot, raw, context);
        return { alternatives: [type === "integer" ? "number" : type], isBare: true };
      }),
    );
  }

  function list(spot: Spot, raw: JsonObject, context: TypeContext): TypeText {
    const { items, additionalItems, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = raw;
    // In draft-07 and earlier drafts, `items` can be a list with one schema for each item.
    const [first, rest, others] = Array.isArray(items)
      ? (["items", "additionalItems", additionalItems] as const)
      : (["prefixItems", "items", items] as const);
    const parts = partsOf(spot, first);
    const inside: TypeContext = { ...context, list: parts.length === 0 ? "array" : "tuple" };
    const further = others === undefined ? unknownType : write(subschemaAt(spot, rest), inside);
    if (parts.length === 0) return { alternatives: [`${toOperand(further)}[]`] };
    // The items have names: TypeScript allows a type to contain itself in an optional item only if the item has a name.
    const itemTexts = parts.map(
      (part, at) => `item${at + 1}${at < Number(minItems) ? "" : "?"}: ${toText(write(part, inside))}`,
    );
    const isFull = others === false || Number(maxItems) <= itemTexts.length;
    return {
      alternatives: [`[${[...itemTexts, ...(isFull ? [] : [`...others: ${toOperand(further)}[]`])].join(", ")}]`],
    };
  }

  function object(spot: Spot, raw: JsonObject, context: TypeContext): TypeText {
    const properties = objectOf(raw["properties"]);
    const required = new Set(listOf(raw["required"]).filter((name) => typeof name === "string"));
    const { additionalProperties: others } = raw;
    const patterns = Object.keys(objectOf(raw["patternProperties"]));
    const members = Object.keys(properties).map((name) => {
      const property = subschemaAt(spot, "properties", name);
      // Every object inherits names such as `toString`, so an optional property with such a name has type `unknown`.
      const isInherited = name in Object.prototype && !required.has(name);
      const type = isInherited ? "unknown" : toText(write(property, context));
      return [...commentOf(property.raw), `${toPropertyKey(name)}${required.has(name) ? "" : "?"}: ${type};`];
    });
    const undescribed = [...required].filter((name) => !Object.hasOwn(properties, name));
    members.push(...undescribed.map((name) => [`${toPropertyKey(name)}: unknown;`]));
    const isOpen = patterns.length > 0 || others === true || isObject(others);
    if (members.length > 0) return objectOfMembers([...members, ...(isOpen ? [["[key: string]: unknown;"]] : [])]);
    if (!isOpen) return others === false ? emptyObject : anyObject;
    const values = patterns.map((pattern) => write(subschemaAt(spot, "patternProperties", pattern), context));
    // Properties that match no pattern may have any value, unless `additionalProperties` restricts them.
    return mapOf(
      unionOf([
        ...values,
        others === undefined ? unknownType : write(subschemaAt(spot, "additionalProperties"), context),
      ]),
    );
  }

  return write;
}

const hints: readonly (readonly [type: string, ...keywords: readonly string[]])[] = [
  ["object", "properties", "required", "additionalProperties", "patternProperties"],
  ["array", "items", "prefixItems"],
];

/** Returns the JSON types that `type` lists, or the types that other keywords imply. */
function typesOf(raw: JsonObject): readonly string[] {
  const { type, nullable } = raw;
  const named = [type].flat().filter((word) => typeof word === "string");
  if (named.length > 0) return nullable === true && !named.includes("null") ? [...named, "null"] : named;
  return hints.flatMap(([implied, ...keywords]) =>
    keywords.some((keyword) => Object.hasOwn(raw, keyword)) ? [implied] : [],
  );
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

// TypeScript types as text: unions, intersections, objects and maps. Pure functions.

/** A type as the list of a union's alternatives. A type without a union has one alternative. */
export interface TypeText {
  readonly alternatives: readonly string[];
  readonly isIntersection?: boolean;
  /**
   * Whether the type is only the name of a JSON type, such as `string`. If `enum` or another keyword gives a narrower
   * type, only the narrower type is written.
   */
  readonly isBare?: boolean;
}

/** The type of any value. */
export const unknownType: TypeText = { alternatives: ["unknown"] };
/** The type that no value has. */
export const neverType: TypeText = { alternatives: ["never"] };
/** An object with any members. */
export const anyObject: TypeText = { alternatives: ["{ [key: string]: unknown }"], isBare: true };
/** An object that must have no members. */
export const emptyObject: TypeText = { alternatives: ["{ [key: string]: never }"] };

/** Whether the type accepts any value. */
export function isUnknown({ alternatives }: TypeText): boolean {
  return alternatives.includes("unknown");
}

const longestLine = 100;

/** Returns the type as TypeScript source. A long union has one line for each alternative. */
export function toText({ alternatives }: TypeText): string {
  const line = alternatives.join(" | ");
  if (alternatives.length === 1 || line.length <= longestLine) return line;
  return alternatives.map((one) => `\n  | ${indent(one)}`).join("");
}

/** Returns the type as an operand of `&`, `[]` or `?`, in parentheses if necessary. */
export function toOperand(type: TypeText): string {
  if (type.alternatives.length === 1 && type.isIntersection !== true) return toText(type);
  const text = toText(type);
  return text.startsWith("\n") ? `(${text}\n)` : `(${text})`;
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** Makes a union of the alternatives. If one alternative accepts any value, the union accepts any value. */
export function unionOf(types: readonly TypeText[]): TypeText {
  if (types.some(isUnknown)) return unknownType;
  const [only, ...others] = types;
  if (only !== undefined && others.length === 0) return only;
  const alternatives = [...new Set(types.flatMap((type) => type.alternatives))].filter((one) => one !== "never");
  const isBare = types.every((type) => type.isBare === true);
  // Alternatives that are `never` or equal leave one, which may be an intersection.
  const isIntersection =
    alternatives.length === 1 &&
    types.some((type) => type.isIntersection === true && type.alternatives[0] === alternatives[0]);
  return alternatives.length === 0 ? neverType : { alternatives, isBare, isIntersection };
}

/** A type derived from one part of a JSON Schema, such as `$ref` or `anyOf`. */
export interface KeywordType {
  readonly type: TypeText;
  /**
   * Returns the number of alternatives, including those of the types that this type refers to. It is a function,
   * because only an intersection of several types needs the number.
   */
  readonly count: () => number;
}

/** Maximum number of alternatives in an intersection. Compilers refuse an intersection with too many alternatives. */
const mostProducts = 128;

/**
 * Intersects the types. Leaves out a type that would create too many alternatives. The result then accepts more values.
 */
export function intersectionOf(types: readonly KeywordType[]): TypeText {
  const exact = types.filter(({ type }) => !isUnknown(type) && type.isBare !== true);
  const [only, ...others] = exact;
  if (only === undefined) return types.find(({ type }) => !isUnknown(type))?.type ?? unknownType;
  if (others.length === 0) return only.type;
  let product = 1;
  const kept = exact.filter(({ count }, at) => {
    const next = product * Math.max(count(), 1);
    if (at > 0 && next > mostProducts) return false;
    product = next;
    return true;
  });
  const texts = [...new Set(kept.map(({ type }) => toOperand(type)))];
  return texts.length === 1 ? only.type : { alternatives: [texts.join(" & ")], isIntersection: true };
}

const mostLiterals = 1_000;

/** Returns a union of literal types. */
export function literalsOf(values: readonly unknown[]): TypeText {
  const literals = values.slice(0, mostLiterals + 1).map(toLiteralType);
  if (literals.length > mostLiterals || literals.includes(undefined)) return unknownType;
  return unionOf([neverType, ...literals.map((literal) => ({ alternatives: [literal ?? ""] }))]);
}

/** Returns an object type. Each member is a comment and a declaration. A short type without comments is on one line. */
export function objectOfMembers(members: readonly (readonly string[])[]): TypeText {
  const lines = members.flat();
  const line = `{ ${lines.join(" ").replace(/;$/, "")} }`;
  if (lines.length === members.length && !line.includes("\n") && line.length <= longestLine)
    return { alternatives: [line] };
  return { alternatives: [`{${lines.map((each) => `\n  ${indent(each)}`).join("")}\n}`] };
}

/**
 * Returns an object type with these values. Uses an index signature, because an alias of `Record` cannot contain
 * itself.
 */
export function mapOf(values: TypeText): TypeText {
  return isUnknown(values) ? anyObject : { alternatives: [`{ [key: string]: ${indent(toText(values))} }`] };
}

// Follows references between the schemas of one document. Every search is limited, because schemas come from
// servers.

/** Returns a part of a schema, given the keywords and indexes that lead to it. */
function subschemaAt({ raw, path, base }: Spot, ...steps: readonly (string | number)[]): Spot {
  const inner = steps.reduce<unknown>(
    (at, step) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined,
    raw,
  );
  return { raw: inner, path: pointerTo(path, ...steps), base: baseOf(inner, base) };
}

/** Returns the schemas in the list of a keyword such as `anyOf`. */
function partsOf(spot: Spot, keyword: string): readonly Spot[] {
  return listOf(member(spot.raw, keyword)).map((_, at) => subschemaAt(spot, keyword, at));
}

/** Returns the schema that the schema's own `$ref` refers to. */
function referenceTarget(document: SchemaDocument, { raw, base }: Spot): Spot | undefined {
  const reference = member(raw, "$ref");
  const target = typeof reference === "string" ? document.resolve(reference, base) : undefined;
  return isObject(target?.raw) ? target : undefined;
}

const sameValue = ["allOf", "anyOf", "oneOf"];

/**
 * Whether `start` leads to the schema at the path `goal` through keywords such as `anyOf` and `$ref`, but not through
 * properties. TypeScript does not allow a type that contains itself in this way. `throughLists`: whether to follow list
 * items too.
 */
function leadsTo(document: SchemaDocument, start: Spot, goal: string, throughLists: boolean): boolean {
  const keywords = throughLists ? [...sameValue, "prefixItems", "items"] : sameValue;
  const open = [start];
  const seen = new Set<string>();
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    if (spot.path === goal) return true;
    if (seen.has(spot.path)) continue;
    seen.add(spot.path);
    const target = referenceTarget(document, spot);
    if (target !== undefined) open.push(target);
    for (const keyword of keywords) open.push(...partsOf(spot, keyword));
    const lists = throughLists ? ["items", "additionalItems"].map((keyword) => subschemaAt(spot, keyword)) : [];
    open.push(...lists.filter(({ raw }) => isObject(raw)));
  }
  return false;
}

/** Maximum number of schemas that `countAlternatives` visits. If there are more, it returns `Infinity`. */
const mostVisits = 1_000;

/** Counts the alternatives of the schema's type, including the alternatives of schemas that it refers to. */
function countAlternatives(document: SchemaDocument, spot: Spot): number {
  let visits = 0;
  function count(at: Spot): number {
    visits += 1;
    if (visits > mostVisits) return Number.POSITIVE_INFINITY;
    const target = referenceTarget(document, at);
    const unions = ["anyOf", "oneOf"].map((keyword) => partsOf(at, keyword));
    const factors = [
      Math.max(listOf(member(at.raw, "enum")).length, listOf(member(at.raw, "type")).length),
      target === undefined ? 1 : count(target),
      ...unions.map((parts) => parts.reduce((sum, part) => sum + count(part), 0)),
      ...partsOf(at, "allOf").map(count),
    ];
    return factors.reduce((product, factor) => product * Math.max(factor, 1), 1);
  }
  return count(spot);
}

const mostDefinitions = 64;

/**
 * Returns the text of a schema and of all schemas that it refers to. Returns undefined if this text is too long.
 * Schemas with the same text get the same type.
 */
function closureOf(document: SchemaDocument, start: Spot): string | undefined {
  const found = new Map<string, unknown>();
  const open = [start];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    if (found.has(spot.path)) continue;
    found.set(spot.path, spot.raw);
    if (found.size > mostDefinitions) return undefined;
    open.push(...referencesIn(document, spot));
  }
  return JSON.stringify([start.path, ...[...found].sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function referencesIn(document: SchemaDocument, start: Spot): readonly Spot[] {
  const targets: Spot[] = [];
  const open = [start];
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const { raw, base } = spot;
    if (!isObject(raw)) continue;
    const target = referenceTarget(document, spot);
    if (target !== undefined) targets.push(target);
    for (const [inner, path] of subschemas(raw, spot.path)) open.push({ raw: inner, path, base: baseOf(inner, base) });
  }
  return targets;
}
