/** A settings entry that is being built from a foreign one. */

import { longestTime } from "../schema/key.ts";
import type { FieldReader } from "./field-reader.ts";
import type { ReferenceContext } from "./references.ts";

export interface ConversionContext extends ReferenceContext {
  /** The scope of the new entry, which decides where its relative paths start. */
  readonly target: "user" | "workspace";
}

/** A `Map`, because a foreign key may be named `__proto__`. */
export type EntryDraft = Map<string, unknown>;

/** `url`: HTTP, or SSE if the server does not answer HTTP. */
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

/** `Object.fromEntries` also defines a property named `__proto__`. */
export function toEntry(draft: EntryDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...draft].map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}
