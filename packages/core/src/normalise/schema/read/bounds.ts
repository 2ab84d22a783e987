/**
 * Size limits of schemas, before and after references are resolved. A tool whose schema exceeds a limit is quarantined.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../../../errors.ts";
import { isList } from "../json-values.ts";
import { schemasIn } from "../keywords.ts";

/** The limits of one tool's schema. */
export const schemaLimits = {
  /** Maximum size of the schema's JSON text. */
  bytes: 262_144,
  /** Maximum size of the compiled schema, including the texts and types that Fairlead adds. */
  writtenBytes: 524_288,
  /** Maximum depth of subschemas, after references are resolved. */
  depth: 32,
  subschemas: 2_000,
  /** Maximum depth of the JSON values that the server sent, so that recursive functions do not overflow the stack. */
  jsonDepth: 256,
  /** Maximum depth of references, alternatives and conditions while a schema is read. */
  nesting: 128,
  /**
   * Maximum size of all referenced schemas together, in bytes of JSON. A schema counts once for each reference to it.
   */
  expandedBytes: 4_194_304,
  /** Maximum number of merges of two schemas. A merge of large schemas counts more than once. */
  merges: 20_000,
} as const;

/** Counts what a compilation has used so far. */
export interface Spent {
  subschemas: number;
  merges: number;
  bytes: number;
}

/** Returns the counters at the start of a compilation: all 0. */
export function nothingSpent(): Spent {
  return { subschemas: 0, merges: 0, bytes: 0 };
}

/** Creates the error for an exceeded limit. `what` continues the sentence "the schema …". */
export function tooLarge(what: string): HostError {
  return new HostError("quarantined", `the schema ${what}`);
}

/**
 * Returns the JSON text of a schema. First checks how deeply the schema is nested, because a server may send any
 * schema.
 *
 * @throws HostError `quarantined`
 */
export function textOf(raw: unknown): string {
  checkValue(raw, 0, { values: 0 });
  const text = raw === undefined ? "null" : JSON.stringify(raw);
  checkLength(text, schemaLimits.bytes);
  return text;
}

function checkValue(value: unknown, depth: number, seen: { values: number }): void {
  seen.values += 1;
  // Each JSON value takes at least two characters of text, so a schema with too many values is also too long.
  if (seen.values * 2 > schemaLimits.bytes) throw tooLarge(`is larger than ${schemaLimits.bytes / 1024} kB`);
  if (depth > schemaLimits.jsonDepth) throw tooLarge(`is nested deeper than ${schemaLimits.jsonDepth} levels`);
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    throw tooLarge(`contains a ${typeof value}, which is not JSON`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const member of isList(value) ? value : Object.values(value)) checkValue(member, depth + 1, seen);
}

function checkLength(text: string, most: number): void {
  if (Buffer.byteLength(text) > most) throw tooLarge(`is larger than ${most / 1024} kB`);
}

/** Checks the size, number and depth of the subschemas in a compiled schema. @throws HostError `quarantined` */
export function checkWritten(schema: JsonObject): void {
  checkLength(JSON.stringify(schema), schemaLimits.writtenBytes);
  checkExtent(schema, 0, nothingSpent());
}

function checkExtent(schema: unknown, depth: number, spent: Spent): void {
  spendSubschema(spent);
  if (depth > schemaLimits.depth) throw tooLarge(`is nested deeper than ${schemaLimits.depth} levels`);
  if (!isObject(schema)) return;
  const alternatives = isList(schema["anyOf"]) ? schema["anyOf"] : [];
  if (isAnything(alternatives)) return;
  const isNullable = alternatives.some(isNull);
  spareSubschemas(spent, alternatives);
  for (const inner of schemasIn(schema)) checkExtent(inner, isNullable ? depth : depth + 1, spent);
}

/** Subtracts the alternatives for null and for "any value", because Fairlead itself writes such alternatives. */
export function spareSubschemas(spent: Spent, alternatives: readonly unknown[]): void {
  spent.subschemas -= spared(alternatives);
}

/** Counts one subschema. @throws HostError `quarantined` */
export function spendSubschema(spent: Spent): void {
  spent.subschemas += 1;
  if (spent.subschemas > schemaLimits.subschemas) {
    throw tooLarge(`has more than ${schemaLimits.subschemas} subschemas once its references are resolved`);
  }
}

/** Counts one merge. @throws HostError `quarantined` */
export function spendMerge(spent: Spent, values: number): void {
  spent.merges += 1 + values / 64;
  if (spent.merges > schemaLimits.merges) throw tooLarge("combines too many alternatives");
}

/** Counts the bytes of a referenced schema. @throws HostError `quarantined` */
export function spendBytes(spent: Spent, bytes: number): void {
  spent.bytes += bytes;
  if (spent.bytes > schemaLimits.expandedBytes) {
    throw tooLarge(`is larger than ${schemaLimits.expandedBytes / 1_048_576} MB once its references are resolved`);
  }
}

const plain: readonly string[] = ["string", "number", "boolean", "object"];

/**
 * The alternatives that together accept any value except null. A model can leave the property out instead of sending
 * null.
 */
export function anyValue(): JsonObject[] {
  return [...plainValues(), { type: "array", items: anyItem() }];
}

/** The schema for any item of an array. An item cannot be an array itself, because the nesting would never end. */
export function anyItem(words: JsonObject = {}): JsonObject {
  return { ...words, anyOf: plainValues() };
}

function plainValues(): JsonObject[] {
  return plain.map((type) => ({ type }));
}

/** Whether the schema accepts only null and has no other keyword. */
export function isNull(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "null" && Object.keys(schema).length === 1;
}

/** Whether these alternatives stand for "any value", with or without null. */
function isAnything(alternatives: readonly unknown[]): boolean {
  return sparedFor(alternatives.filter((each) => !isNull(each))) > 0;
}

/** The number of schemas that Fairlead itself added to these alternatives. They do not count towards the limits. */
function spared(alternatives: readonly unknown[]): number {
  const others = alternatives.filter((each) => !isNull(each));
  // For null, Fairlead added two schemas: the alternative for null, and the schema around all alternatives.
  return sparedFor(others) + (others.length < alternatives.length ? 2 : 0);
}

function sparedFor(alternatives: readonly unknown[]): number {
  if (alternatives.length < plain.length || alternatives.length > plain.length + 1) return 0;
  const text = JSON.stringify(alternatives);
  if (text === JSON.stringify(anyValue())) return 2 * plain.length + 2;
  return text === JSON.stringify(plainValues()) ? plain.length : 0;
}
