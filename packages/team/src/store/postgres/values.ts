/** Values as PostgreSQL stores them. */

import { hash } from "node:crypto";
import { HostError } from "@fairlead/core";
import { clip } from "@fairlead/wire/text";
import type { Owner } from "../owner.ts";

/** Longest text that is part of an index, in bytes. An index has no place for longer ones. */
const longestKey = 1024;
/** Longest name or sentence of a row, in characters, as in the files of one machine. */
const longestText = 2000;

/** A digest as a key for texts of any length. */
export function keyDigest(...parts: readonly (string | number | undefined)[]): Buffer {
  return hash("sha256", JSON.stringify(parts.map((part) => part ?? null)), "buffer");
}

/** The values of an owner for the columns `tenant` and `principal`. */
export function ownerValues({ tenant, principal }: Owner): readonly [number, string] {
  return [tenant, keyText(principal, "the principal")];
}

/**
 * A text that is part of a primary key.
 *
 * @throws HostError `too_large` for a text that no index can have
 */
export function keyText(text: string, thing: string): string {
  if (Buffer.byteLength(text) > longestKey)
    throw new HostError("too_large", `${thing} is too long: it has more than ${longestKey} bytes`);
  if (text.includes("\0")) throw new HostError("arguments_invalid", `${thing} is invalid: it contains a NUL character`);
  return text;
}

/** A text for people. PostgreSQL stores no NUL characters; they become U+FFFD. */
export function boundedText(text: string): string {
  return withoutNul(clip(text, longestText));
}

/** Milliseconds since 1970 for a column with a time. */
export function toTime(milliseconds: number): Date;
export function toTime(milliseconds: number | undefined): Date | null;
export function toTime(milliseconds: number | undefined): Date | null {
  return milliseconds === undefined ? null : new Date(milliseconds);
}

/** Without NUL characters, in full length. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\u{fffd}");
}
