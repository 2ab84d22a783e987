/** Detects cheaply whether policy files, saved approvals or the lock file have changed on disk. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../files/system-error.ts";
import type { Locations } from "../../settings/read/paths.ts";
import { approvalsPath } from "../../trust/approvals-file.ts";
import { lockPath } from "../lock/lock-file.ts";

/**
 * Returns another text after any of the files has changed. Synchronous on purpose: a few `stat` calls take
 * microseconds, and a trip through the thread pool for each of them would cost more than the rest of a call.
 */
export function policySignature(locations: Locations): string {
  const { administrator, user, workspace } = locations.policies;
  const folders = [administrator, user, workspace].flatMap((folder) => folder ?? []);
  const lock = lockPath(locations);
  const files = [...folders.flatMap(filesOf), approvalsPath(locations.state), ...(lock === undefined ? [] : [lock])];
  return [...folders, ...files].map((file) => `${file} ${traceOf(file)}`).join("\n");
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".toml"))
      .map((name) => join(folder, name));
  } catch {
    // The loading of the rules reports why a folder cannot be listed.
    return [];
  }
}

function traceOf(file: string): string {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "none" : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
  } catch (error) {
    return systemCode(error) ?? "unreadable";
  }
}
