/** An entry of the settings while it is made out of a foreign one. */

import { longestTime } from "../schema/key.ts";
import type { FieldReader } from "./field-reader.ts";
import type { ReferenceContext } from "./references.ts";

export interface ConversionContext extends ReferenceContext {
  /** Where the entry will stand: that decides where its relative paths start. */
  readonly target: "user" | "workspace";
}

/** A `Map`, because foreign keys have foreign names. */
export type EntryDraft = Map<string, unknown>;

/** `url`: reached by its address, over whichever of the two transports answers. */
export type TransportKind = "stdio" | "http" | "sse" | "url";

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

/** `Object.fromEntries` defines its properties, so that one called `__proto__` stays a property. */
export function toEntry(draft: EntryDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...draft].map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}
