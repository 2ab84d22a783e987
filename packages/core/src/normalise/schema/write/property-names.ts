/** Renames properties to names that the API accepts, with one reversible mapping for the whole schema. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isList, isText } from "../json-values.ts";
import type { ModelDialect, Report } from "../place.ts";

/** Every name that may become a property, in order of appearance. Unused ones do no harm. */
export function propertyNamesIn(raw: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  collect(raw, names);
  return names;
}

function collect(value: object, names: Set<string>): void {
  if (isObject(value)) {
    const { properties, required } = value;
    if (isObject(properties)) for (const name of Object.keys(properties)) names.add(name);
    if (isList(required)) for (const name of required) if (isText(name)) names.add(name);
  }
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) collect(inner, names);
}

/** Maps the server's names to the model's, where they differ. */
export function renamedFor(names: ReadonlySet<string>, dialect: ModelDialect): ReadonlyMap<string, string> {
  const isFine = (name: string): boolean => dialect.propertyName.test(name);
  const taken = new Set([...names].filter(isFine));
  const counts = new Map<string, number>();
  const renamed = new Map<string, string>();
  for (const name of names) {
    if (isFine(name)) continue;
    let candidate = plain(name, dialect);
    const stem = candidate.slice(0, dialect.longestName - 7);
    let count = counts.get(stem) ?? 1;
    for (; taken.has(candidate); count += 1) candidate = `${stem}_${count + 1}`;
    counts.set(stem, count);
    taken.add(candidate);
    renamed.set(name, candidate);
  }
  return renamed;
}

/**
 * Reports renamed properties.
 *
 * @param names The names that were read, with their paths.
 */
export function reportRenamed(
  names: ReadonlyMap<string, string>,
  renamed: ReadonlyMap<string, string>,
  report: Report,
): void {
  for (const [name, path] of names) {
    const candidate = renamed.get(name);
    if (candidate !== undefined) report(path, name, "renamed", `For the model it is called "${candidate}".`);
  }
}

function plain(name: string, { propertyName, longestName }: ModelDialect): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_]/g, "_");
  const started = propertyName.test(clean.slice(0, 1)) ? clean : `_${clean}`;
  return started.slice(0, longestName);
}
