/** Whether what decides has changed on the disk: a cheap answer, from what the system knows of the files. */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../files/system-error.ts";
import type { Locations } from "../settings/paths.ts";
import { approvalsPath } from "../trust/approvals-file.ts";
import { lockPath } from "./lock-file.ts";

/** Another text: policy files, saved approvals or the lock file are not what they were. */
export async function policySignature(locations: Locations): Promise<string> {
  const { administrator, user, workspace } = locations.policies;
  const folders = [administrator, user, workspace].flatMap((folder) => folder ?? []);
  const listed = await Promise.all(folders.map(filesOf));
  const lock = lockPath(locations);
  const files = [...folders, ...listed.flat(), approvalsPath(locations.state), ...(lock === undefined ? [] : [lock])];
  return JSON.stringify(await Promise.all(files.map(async (file) => [file, await traceOf(file)])));
}

async function filesOf(folder: string): Promise<readonly string[]> {
  // Why a folder cannot be listed is for who reads it.
  const names = await readdir(folder).catch((): readonly string[] => []);
  return names.filter((name) => name.endsWith(".toml")).map((name) => join(folder, name));
}

async function traceOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return systemCode(error) ?? "gone";
  }
}
