/**
 * Converts an entry to its form in the lock file. The lock file is shared with everyone who has the project, so secrets and
 * values that look like secrets are hidden; commands, URLs and paths stay, so that changes of them are detected.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { redactEntry } from "../output/servers/entry-redaction.ts";
import { hideInUrl, hideVariable } from "../output/servers/server-redaction.ts";
import { hidden as hiddenWord, isTellingName, looksSecret } from "../output/servers/server-secrets.ts";

/** Leaves out the description, which does not affect what runs. */
export function lockedEntry({ description: _words, ...entry }: JsonObject): JsonObject {
  const { env } = entry;
  const shown = Object.entries(redactEntry(entry)).map(([key, value]) => {
    if (key === "env" && isObject(env)) return [key, mapTexts(env, showVariable)] as const;
    return [key, typeof value === "string" ? hideKeys(value) : value] as const;
  });
  return Object.fromEntries(shown);
}

const address = /^[a-z][a-z0-9+.-]*:\/\//i;
const path = /^(?:~|\.{0,2}[/\\])/;
/** Keys and passwords usually mix letters and digits; words and numbers do not. */
const mixed = /[a-z]\d|\d[a-z]/i;
const longest = 200;

function showVariable(name: string, value: string): string {
  const hidden = hideVariable(name, value);
  if (isTellingName(name) || looksSecret(name, value)) return hidden;
  if (address.test(value)) return hideKeys(hideInUrl(value));
  if (path.test(value)) return value;
  return value.length > longest || isTellingName(value) || mixed.test(value) ? hidden : value;
}

/** Hides long parts of a URL that are not words: some services put an API key into the path. */
function hideKeys(text: string): string {
  if (!address.test(text)) return text;
  const isKey = (part: string): boolean => !part.startsWith("$") && mixed.test(part);
  return text.replaceAll(/\$\{[^{}]*\}|[\w-]{16,}/g, (part) => (isKey(part) ? hiddenWord : part));
}

function mapTexts(values: JsonObject, show: (name: string, text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, show(name, String(value))]));
}
