/** How large a schema may be, before and after its references are put in place. Over it: quarantine, never a hang. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../../../errors.ts";
import { isList } from "../json-values.ts";
import { schemasIn } from "../keywords.ts";
import { isAnything, isNull, spared } from "./open-value.ts";

export const schemaLimits = {
  /** Of its JSON text. */
  bytes: 262_144,
  /** The same of what is written: words and types of ours come on top. */
  writtenBytes: 524_288,
  /** How deep schemas may stand in schemas, once references are in place. */
  depth: 32,
  subschemas: 2_000,
  /** How deep values may stand in values as the server sent them; keeps every walk over them off the end of the stack. */
  jsonDepth: 256,
  /** References, alternatives and conditions that may be open inside each other while reading. */
  nesting: 128,
  /** Text that references may put in place, counted each time. */
  expandedBytes: 4_194_304,
  /** Pairs of schemas that are merged, weighted by their enums; alternatives beside alternatives multiply. */
  merges: 20_000,
} as const;

/** What a compilation has used up. */
export interface Spent {
  subschemas: number;
  merges: number;
  bytes: number;
}

export function nothingSpent(): Spent {
  return { subschemas: 0, merges: 0, bytes: 0 };
}

export function tooLarge(what: string): HostError {
  return new HostError("quarantined", `the schema ${what}`);
}

/** Its JSON text. Walked first, no deeper than is safe: how it is nested is a server's choice. */
export function textOf(raw: unknown): string {
  checkValue(raw, 0, { values: 0 });
  const text = raw === undefined ? "null" : JSON.stringify(raw);
  checkLength(text, schemaLimits.bytes);
  return text;
}

function checkValue(value: unknown, depth: number, seen: { values: number }): void {
  seen.values += 1;
  // A value takes at least two characters, its separator included.
  if (seen.values * 2 > schemaLimits.bytes) throw tooLarge(`is larger than ${schemaLimits.bytes / 1024} kB`);
  if (depth > schemaLimits.jsonDepth) throw tooLarge(`is nested deeper than ${schemaLimits.jsonDepth} levels`);
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    throw tooLarge(`holds a ${typeof value}, which JSON cannot say`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const member of isList(value) ? value : Object.values(value)) checkValue(member, depth + 1, seen);
}

function checkLength(text: string, most: number): void {
  if (Buffer.byteLength(text) > most) throw tooLarge(`is larger than ${most / 1024} kB`);
}

/** What was written: how much text, how many schemas, and how deep they stand in each other. */
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

/** What says no more than one word does, and is written by us where a server wrote that word, counts as little. */
export function spareSubschemas(spent: Spent, alternatives: readonly unknown[]): void {
  spent.subschemas -= spared(alternatives);
}

export function spendSubschema(spent: Spent): void {
  spent.subschemas += 1;
  if (spent.subschemas > schemaLimits.subschemas) {
    throw tooLarge(`has more than ${schemaLimits.subschemas} subschemas once its references are in place`);
  }
}

export function spendMerge(spent: Spent, values: number): void {
  spent.merges += 1 + values / 64;
  if (spent.merges > schemaLimits.merges) throw tooLarge("combines too many alternatives");
}

export function spendBytes(spent: Spent, bytes: number): void {
  spent.bytes += bytes;
  if (spent.bytes > schemaLimits.expandedBytes) {
    throw tooLarge(`is larger than ${schemaLimits.expandedBytes / 1_048_576} MB once its references are in place`);
  }
}
