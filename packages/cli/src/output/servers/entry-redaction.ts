/** Hides secrets in a settings entry that has not been validated. */

import { isDeepStrictEqual } from "node:util";
import { entrySchema } from "@fairlead/core/settings/schema/entry-schema";
import { hidden } from "@fairlead/core/text/hidden-text";
import { runsCode } from "./server-notes.ts";
import { hideInUrl, hideInWords, hideLiteral, hideVariable, redactArguments } from "./server-redaction.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Returns the entry with literal secrets and values of unknown keys hidden. */
export function redactEntry(entry: Entry): Entry {
  return mapValues(entry, (key, value) => {
    if (!Object.hasOwn(entrySchema.properties, key)) return hideUnknown(value);
    if (key === "args") return Array.isArray(value) ? redactArguments(value.map(String)) : value;
    if (key === "env") return mapTexts(value, hideVariable);
    if (key === "headers") return mapTexts(value, (_name, text) => hideLiteral(text));
    if (key === "oauth") return mapTexts(value, (name, text) => (name === "clientSecret" ? hideLiteral(text) : text));
    return typeof value === "string" ? hideInUrl(value) : value;
  });
}

/** Whether the entry contains a value that `redactEntry` hides. */
export function holdsSecret(entry: Entry): boolean {
  return !isDeepStrictEqual(redactEntry(entry), entry);
}

/**
 * Returns the entry as it is shown before an import. Code in arguments stays visible, even if it contains a secret: the
 * user must see which code would run.
 */
export function previewEntry(entry: Entry): Entry {
  const { command, args } = entry;
  if (!Array.isArray(args)) return redactEntry(entry);
  const written = args.map(String);
  const listed = redactArguments(written);
  const shown = runsCode(String(command), written)
    ? written
    : written.map((argument, at) => (isOneWord(argument) ? (listed[at] ?? "") : hideInWords(argument)));
  return { ...redactEntry(entry), args: shown };
}

function isOneWord(text: string): boolean {
  return !/[\s;|&`()<>]/.test(text);
}

/** Hides the value of an unknown key, because the value may be a secret. */
function hideUnknown(value: unknown): unknown {
  return typeof value === "boolean" || value === null ? value : hidden;
}

function mapTexts(values: unknown, show: (name: string, text: string) => string): unknown {
  if (typeof values !== "object" || values === null) return values;
  return mapValues(values, (name, value) => (typeof value === "string" ? show(name, value) : hideInner(value)));
}

/** Hides a value, except lists (such as scopes) and booleans, which are not secrets. */
function hideInner(value: unknown): unknown {
  return Array.isArray(value) ? value : hideUnknown(value);
}

function mapValues(values: object, change: (key: string, value: unknown) => unknown): Entry {
  return Object.fromEntries(Object.entries(values).map(([key, value]: [string, unknown]) => [key, change(key, value)]));
}
