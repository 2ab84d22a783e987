/** Reads and converts the keys of another program's entry, and lists the keys that were not read. */

import { longestTime } from "@fairlead/core/settings/schema/key";
import { foreignFields } from "./foreign-file.ts";
import type { Remark } from "./program.ts";
import { convertReferences, type ReferenceContext } from "./references.ts";

/** Reads the keys of one entry, and remembers which keys it has read. */
export interface FieldReader {
  /** Whether the key has a value other than `null`. */
  has(key: string): boolean;
  /** The value of the key, as written. */
  raw(key: string): unknown;
  /** Like `raw`, but the key does not count as read. */
  peek(key: string): unknown;
  text(key: string): string | undefined;
  texts(key: string): readonly string[] | undefined;
  table(key: string): ReadonlyMap<string, string> | undefined;
  /** A list of names. Names contain no references, so they are not converted. */
  names(key: string): readonly string[] | undefined;
  convert(text: string, key: string): string;
  /** The keys that were not read. */
  rest(): readonly string[];
  remark(kind: Remark["kind"], key: string, message: string, next?: string): void;
  /** Reports that the key cannot be converted. Returns undefined. */
  refuse(key: string, message: string): undefined;
}

/** Creates a reader for the keys of one entry. Adds its remarks to `remarks`. */
export function createFieldReader(
  fields: ReadonlyMap<string, unknown>,
  context: ReferenceContext,
  remarks: Remark[],
): FieldReader {
  const read = new Set<string>();

  function remark(kind: Remark["kind"], key: string, message: string, next?: string): void {
    remarks.push({ kind, key, message, next });
  }

  function refuse(key: string, message: string): undefined {
    remark("obstacle", key, message);
    return undefined;
  }

  function raw(key: string): unknown {
    read.add(key);
    return fields.get(key) ?? undefined;
  }

  function convert(text: string, key: string): string {
    return convertReferences(text, key, context, (one) => remarks.push(one));
  }

  /** Converts numbers and booleans to text, as Fairlead does for its own settings. */
  function item(value: unknown, key: string): string | undefined {
    if (typeof value === "string") return convert(value, key);
    return typeof value === "number" || typeof value === "boolean" ? String(value) : refuse(key, "is not a string");
  }

  return {
    has: (key) => (fields.get(key) ?? undefined) !== undefined,
    raw,
    peek: (key) => fields.get(key) ?? undefined,
    convert,
    text(key) {
      const value = raw(key);
      if (value === undefined) return undefined;
      return typeof value === "string" ? convert(value, key) : refuse(key, "is not a string");
    },
    texts(key) {
      const value = raw(key);
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) return refuse(key, "is not a list");
      return value.flatMap((one: unknown, at) => item(one, `${key}[${at}]`) ?? []);
    },
    table(key) {
      const value = raw(key);
      if (value === undefined) return undefined;
      const entries = foreignFields(value);
      if (!entries) return refuse(key, "is not an object");
      const table = new Map<string, string>();
      for (const [name, one] of entries) {
        const where = `${key}.${name}`;
        const text = one === null ? undefined : item(one, where);
        if (one === null)
          remark("dropped", where, "the value is null; Fairlead can set a value, but cannot remove one");
        if (text !== undefined) table.set(name, text);
      }
      return table;
    },
    names(key) {
      const value = raw(key);
      if (value === undefined) return undefined;
      const isList = Array.isArray(value) && value.every((one): one is string => typeof one === "string");
      return isList ? value : refuse(key, "is not a list of names");
    },
    rest: () => [...fields.keys()].filter((key) => !read.has(key)),
    remark,
    refuse,
  };
}

/** The other program, the folders and the target file's scope, which decide how an entry is converted. */
export interface ConversionContext extends ReferenceContext {
  /** The scope of the new entry, which decides where its relative paths start. */
  readonly target: "user" | "workspace";
}

/** The new entry while it is being built. It is a `Map`, because another program's key may be named `__proto__`. */
export type EntryDraft = Map<string, unknown>;

/** The transport of an entry. `url` means that Fairlead tries HTTP, then SSE. */
export type TransportKind = "stdio" | "http" | "sse" | "url";

/** Writes `timeout` in milliseconds into the new entry. Limits it to the longest time that Fairlead allows. */
export function convertTimeout(
  reader: FieldReader,
  draft: EntryDraft,
  key: string,
  unit: "milliseconds" | "seconds",
): void {
  const value = reader.raw(key);
  if (typeof value === "number" && value > 0) {
    const timeout = Math.min(Math.max(Math.round(unit === "seconds" ? value * 1000 : value), 1), longestTime);
    draft.set("timeout", timeout);
    if (unit === "seconds") reader.remark("converted", key, `becomes timeout, in milliseconds: ${timeout}`);
  } else if (value !== undefined) reader.remark("dropped", key, "is not a positive number");
}

/**
 * Converts the new entry from a `Map` to an object. Uses `Object.fromEntries`, because a key may be named `__proto__`,
 * and an assignment to that key would set the prototype.
 */
export function toEntry(draft: EntryDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...draft].map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}
