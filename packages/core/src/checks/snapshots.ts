/** Stores the snapshots of a file of checks in one JSON file next to it. Each snapshot has its check's name. */

import { isObject, parseObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";

const largestFile = 16 * 1024 * 1024;

/** Returns the path of the snapshot file (for example `a.snap.json` for `a.yaml`). */
export function snapshotPath(file: string): string {
  return `${file.replace(/\.(?:ya?ml|json)$/i, "")}.snap.json`;
}

/**
 * Reads a snapshot file. A missing file counts as empty.
 *
 * @throws HostError `settings_invalid` if the file is not a snapshot file, `internal` if it cannot be read
 */
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
  return new Snapshots(document["snapshots"], update);
}

/** The snapshots of one file of checks, in memory. Nothing is written to a file. */
export class Snapshots {
  readonly #kept: Map<string, unknown>;
  readonly #update: boolean;
  #isChanged = false;

  constructor(before: Readonly<Record<string, unknown>>, update: boolean) {
    this.#kept = new Map(Object.entries(before));
    this.#update = update;
  }

  /** Compares a value with its snapshot. With `--update`, stores the value if it differs or has no snapshot. */
  compare(
    name: string,
    value: unknown,
    describe: (before: unknown) => readonly string[],
  ): { readonly problems: readonly string[]; readonly isUpdated: boolean } {
    const snapshot = this.#kept.get(name);
    const isKept = this.#kept.has(name);
    if (isKept && isSameJson(snapshot, value)) return { problems: [], isUpdated: false };
    if (!this.#update) {
      const problems = isKept ? describe(snapshot) : ["there is no snapshot yet: run the command again with --update"];
      return { problems, isUpdated: false };
    }
    this.#kept.set(name, value);
    this.#isChanged = true;
    return { problems: [], isUpdated: true };
  }

  /** Returns the new text of the snapshot file, or undefined if nothing has changed. */
  changedText(): string | undefined {
    if (!this.#isChanged) return undefined;
    const sorted: unknown = JSON.parse(canonicalJson(Object.fromEntries(this.#kept)));
    return `${JSON.stringify({ schemaVersion: 1, snapshots: sorted }, undefined, 2)}\n`;
  }
}
