/**
 * The snapshots for a file of checks, stored in one JSON file next to the file of checks. Each snapshot has the name of
 * its check.
 */

import { isObject, parseObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";

/** The snapshots that belong to one file of checks. */
export interface Snapshots {
  /** Compares a value with its snapshot. With `update`, replaces the snapshot instead. */
  compare(
    name: string,
    value: unknown,
    describe: (before: unknown) => readonly string[],
  ): { readonly problems: readonly string[]; readonly isUpdated: boolean };
  /** The new text of the snapshot file; undefined if nothing has changed. */
  changedText(): string | undefined;
}

const largestFile = 16 * 1024 * 1024;

/** The path of the snapshot file for a file of checks. */
export function snapshotPath(file: string): string {
  return `${file.replace(/\.(?:ya?ml|json)$/i, "")}.snap.json`;
}

/** @throws HostError `settings_invalid` if the file exists and is not a snapshot file */
export async function loadSnapshots(file: string, update: boolean): Promise<Snapshots> {
  const found = await readText(file, largestFile);
  if (found.kind === "unreadable") throw notRead(file, found.reason, found.cause);
  const document = found.kind === "absent" ? { snapshots: {} } : parseObject(found.text);
  if (!isObject(document?.["snapshots"]))
    throw new HostError(
      "settings_invalid",
      `${file} is not a snapshot file: it is not a JSON object with the member "snapshots"`,
      {
        next: "Restore the committed file, or delete it and run: fairlead test FILE --update",
      },
    );
  return createSnapshots(document["snapshots"], update);
}

/** Snapshots in memory. */
export function createSnapshots(before: Readonly<Record<string, unknown>>, update: boolean): Snapshots {
  const kept = new Map(Object.entries(before));
  let isChanged = false;
  return {
    compare(name, value, describe) {
      const snapshot = kept.get(name);
      if (kept.has(name) && isSameJson(snapshot, value)) return { problems: [], isUpdated: false };
      if (!update)
        return { problems: kept.has(name) ? describe(snapshot) : ["no snapshot yet: add --update"], isUpdated: false };
      kept.set(name, value);
      isChanged = true;
      return { problems: [], isUpdated: true };
    },
    changedText() {
      if (!isChanged) return undefined;
      const sorted: unknown = JSON.parse(canonicalJson(Object.fromEntries(kept)));
      return `${JSON.stringify({ schemaVersion: 1, snapshots: sorted }, undefined, 2)}\n`;
    },
  };
}
