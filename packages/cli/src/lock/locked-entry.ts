/**
 * What of an entry goes into the lock file. That file is for everyone who has the project: no secret, and nothing that
 * looks like one, is in it; but what decides where a program goes and what it does must be, or nobody would see it change.
 */

import { redactEntry } from "../output/entry-redaction.ts";
import { isObject, type Json } from "../output/json-shape.ts";
import { hideInUrl, hideVariable } from "../output/server-redaction.ts";
import { hidden as hiddenWord, isTellingName, looksSecret } from "../output/server-secrets.ts";

/** A description runs nothing and reaches nothing. */
export function lockedEntry({ description: _words, ...entry }: Json): Json {
  const { env } = entry;
  const shown = Object.entries(redactEntry(entry)).map(([key, value]) => {
    if (key === "env" && isObject(env)) return [key, mapTexts(env, showVariable)] as const;
    return [key, typeof value === "string" ? hideKeys(value) : value] as const;
  });
  return Object.fromEntries(shown);
}

const address = /^[a-z][a-z0-9+.-]*:\/\//i;
const path = /^(?:~|\.{0,2}[/\\])/;
/** Keys and passwords mix letters with digits; words and numbers do not. */
const mixed = /[a-z]\d|\d[a-z]/i;
const longest = 200;

function showVariable(name: string, value: string): string {
  const hidden = hideVariable(name, value);
  if (isTellingName(name) || looksSecret(name, value)) return hidden;
  if (address.test(value)) return hideKeys(hideInUrl(value));
  if (path.test(value)) return value;
  return value.length > longest || isTellingName(value) || mixed.test(value) ? hidden : value;
}

/** In an address, a long part of its path that is no word: some services put the key of an account there. */
function hideKeys(text: string): string {
  if (!address.test(text)) return text;
  const isKey = (part: string): boolean => !part.startsWith("$") && mixed.test(part);
  return text.replaceAll(/\$\{[^{}]*\}|[\w-]{16,}/g, (part) => (isKey(part) ? hiddenWord : part));
}

function mapTexts(values: Json, show: (name: string, text: string) => string): Json {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, show(name, String(value))]));
}
