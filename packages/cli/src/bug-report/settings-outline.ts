/** Reads the keys of the settings files, and the values that a bug report must not contain. */

import { readSources } from "@fairlead/core/settings/read/load";
import { plainValueOf } from "@fairlead/core/settings/read/nodes";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { isObject } from "@fairlead/wire/json";

/** One settings file in a bug report: its keys, without values except booleans. */
export interface SettingsOutline {
  readonly scope: string;
  readonly file: string;
  readonly state: string;
  /** The keys of the settings file, each with its type or its boolean value. Undefined if the file cannot be read. */
  readonly keys?: unknown;
}

/** The outlines of all settings files, and the values that the report must not contain. */
export interface ReadSettings {
  readonly outlines: readonly SettingsOutline[];
  /** Values that look like API keys, tokens or passwords. The report must not contain them. */
  readonly values: readonly string[];
}

/** Reads the settings files of all scopes, even those of an untrusted workspace. */
export async function readSettings(locations: Locations): Promise<ReadSettings> {
  const sources = await readSources(locations);
  const read = sources.map(({ scope, file, state, root }) => ({
    scope,
    file,
    state,
    value: root && plainValueOf(root),
  }));
  return {
    outlines: read.map(({ value, ...source }) => ({
      ...source,
      keys: value === undefined ? undefined : outlineOf(value),
    })),
    values: [...new Set(read.flatMap(({ value }) => unusualTexts(value)))],
  };
}

function outlineOf(value: unknown): unknown {
  if (Array.isArray(value)) return `(list of ${value.length})`;
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, outlineOf(inner)]));
  return typeof value === "boolean" ? value : `(${typeof value === "string" ? "text" : typeof value})`;
}

/**
 * Matches a value that is probably an API key, a token or a password: letters and digits, but no space, slash or `@`.
 */
const unusual = /^(?=.*\d)(?=.*[A-Za-z])[^\s/\\@]{8,}$/;

function unusualTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value, ...value.split(/[\s=:,]+/)].filter((text) => unusual.test(text));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(unusualTexts) : [];
}
