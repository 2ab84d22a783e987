/** Detects changes of the files that decisions depend on: policy files, saved approvals and the lock file. */

import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../files/system-error.ts";
import type { Locations } from "../../settings/read/paths.ts";
import { approvalsPath } from "../../trust/approvals.ts";
import { lockPath } from "../lock/lock-file.ts";

/** Detects changes of these files for one host. */
export interface PolicyFiles {
  /**
   * Returns a number that increases when a file was added, changed or removed. Calls that follow each other without an
   * `await` share one check of the files.
   */
  readonly version: (locations: Locations) => number;
}

/**
 * For this many milliseconds after a change, each check lists the folder again. Two quick changes may leave the folder
 * with the same modification time.
 */
const coarsestTime = 2000;

/**
 * Checks the files at each call. Does not watch them, because on some file systems a watcher misses changes or reports
 * them late.
 */
export function createPolicyFiles(now: () => number): PolicyFiles {
  let version = 0;
  let isChecked = false;
  let of: Locations | undefined;
  let watched: readonly Watched[] = [];

  return {
    version(locations) {
      if (isChecked && of === locations) return version;
      isChecked = true;
      /**
       * `process.nextTick` would wait until no promise callback is left. A program that awaits one call after another
       * could then never notice a new rule.
       */
      queueMicrotask(() => {
        isChecked = false;
      });
      if (of !== locations) {
        of = locations;
        watched = watchedAt(locations, now);
      }
      let isChanged = false;
      for (const each of watched) isChanged = each.isChanged() || isChanged;
      if (isChanged) version += 1;
      return version;
    },
  };
}

interface Watched {
  /** Whether the file has changed since the previous call. True at the first call. */
  readonly isChanged: () => boolean;
}

function watchedAt(locations: Locations, now: () => number): readonly Watched[] {
  const { administrator, user, workspace } = locations.policies;
  const lock = lockPath(locations);
  return [
    ...[administrator, user, workspace].flatMap((folder) => (folder === undefined ? [] : watchedFolder(folder, now))),
    watchedFile(approvalsPath(locations.state)),
    ...(lock === undefined ? [] : [watchedFile(lock)]),
  ];
}

function watchedFile(path: string): Watched & { readonly isThere: () => boolean } {
  let before: Stats | string | undefined;
  return {
    isThere: () => typeof before === "object",
    isChanged() {
      const found = traceOf(path);
      const isSame =
        found === before || (typeof found === "object" && typeof before === "object" && isEqual(found, before));
      before = found;
      return !isSame;
    },
  };
}

function watchedFolder(path: string, now: () => number): Watched {
  const folder = watchedFile(path);
  let files = new Map<string, Watched>();
  let changedAt = 0;
  let listedAt = 0;

  function list(): void {
    listedAt = now();
    const before = files;
    files = new Map(policyFilesIn(path).map((name) => [name, before.get(name) ?? watchedFile(join(path, name))]));
  }

  return {
    isChanged() {
      let isChanged = folder.isChanged();
      if (isChanged) changedAt = now();
      if (isChanged || (folder.isThere() && listedAt < changedAt + coarsestTime)) {
        const count = files.size;
        list();
        isChanged = isChanged || files.size !== count;
      }
      // Checks every file, even after a change was found, so that each change is reported only once.
      for (const file of files.values()) isChanged = file.isChanged() || isChanged;
      return isChanged;
    },
  };
}

function policyFilesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(isPolicyFile);
  } catch {
    // The error is ignored here: loading the rules reports it.
    return [];
  }
}

/** Whether the file is a policy file. `.TOML` counts too, because users expect such a file to work. */
export function isPolicyFile(name: string): boolean {
  return /[.]toml$/i.test(name);
}

/** Reads the state of a file. Synchronous, because `stat` is faster than a switch to the thread pool. */
function traceOf(path: string): Stats | string {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? "none";
  } catch (error) {
    return systemCode(error) ?? "unreadable";
  }
}

function isEqual(one: Stats, other: Stats): boolean {
  return (
    one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.size === other.size && one.ino === other.ino
  );
}
