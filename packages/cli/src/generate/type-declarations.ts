/**
 * Writes JSON Schemas as TypeScript types. A type leaves out rules that TypeScript cannot express (lengths, patterns,
 * `not`, conditions), so it accepts every value that validation accepts.
 */

import { HostError } from "@fairlead/core/errors";
import { prepareSchema } from "@fairlead/core/execute/validation/prepare-schema";
import { openDocument, type SchemaDocument, type Spot } from "@fairlead/core/normalise/schema/document";
import { lastStep } from "@fairlead/core/normalise/schema/pointer";
import { textOf } from "@fairlead/core/normalise/schema/read/bounds";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, objectOf } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { closureOf, countAlternatives, leadsTo, partsOf, referenceTarget, subschemaAt } from "./schema-graph.ts";
import { createNames, toDocComment, toLiteralType, toPropertyKey, toTypeName } from "./source-text.ts";
import {
  anyObject,
  emptyObject,
  intersectionOf,
  isUnknown,
  type KeywordType,
  literalsOf,
  mapOf,
  neverType,
  objectOfMembers,
  type TypeText,
  toOperand,
  toText,
  unionOf,
  unknownType,
} from "./type-text.ts";

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
