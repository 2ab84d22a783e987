/** The log of a replica: one line of JSON for each event, on stderr. It has no arguments, no tokens and no user names. */

import { hash } from "node:crypto";
import { clip } from "@fairlead/wire/text";
import type { Owner } from "../store/owner.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes an event. `level`: what a person must look at is a `warning` or an `error`. */
export type Log = (level: "info" | "warning" | "error", event: string, fields?: LogFields) => void;

/** Longest text of a field. Names and messages come from servers and clients. */
const longestText = 2000;

/** Creates the log. JSON escapes whatever could act on a terminal, except what `escaped` covers. */
export function createLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    const texts = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? clip(value, longestText) : value,
    ]);
    const line = JSON.stringify({
      time: new Date(now()).toISOString(),
      level,
      event,
      ...Object.fromEntries(texts),
    });
    write(`${escaped(line)}\n`);
  };
}

/** A digest of a user: it tells requests of one user from those of another, and says nothing about who it is. */
export function userDigest({ tenant, principal }: Owner): string {
  return hash("sha256", JSON.stringify([tenant, principal]), "hex").slice(0, 16);
}

/** Control and format characters beyond those that JSON escapes. */
function escaped(line: string): string {
  return line.replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
