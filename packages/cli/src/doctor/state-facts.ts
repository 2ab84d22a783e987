/**
 * Tests the state folder by writing and deleting a file; does not create the folder. Repairs what any other command would
 * repair silently (folder permissions, damaged approvals), so that doctor can report it.
 */

import { randomUUID } from "node:crypto";
import { access, constants, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { keepPrivate } from "@fairlead/core/files/atomic/private-folder";
import { explain, systemCode, unless } from "@fairlead/core/files/system-error";
import { readApprovals } from "@fairlead/core/trust/approvals";
import type { StateFacts } from "./check-state.ts";

/** Bytes; an empty file could be written even to a full disk. */
const probeBytes = 65_536;
const forOthers = 0o077;
const sticky = 0o1000;

export async function readStateFacts(folder: string): Promise<StateFacts> {
  const wasOpen = await isOpen(folder);
  if (wasOpen) await keepPrivate(folder);
  // The policy check reports approvals that cannot be read.
  await readApprovals(folder).catch(() => undefined);
  const [failure, aside, free] = await Promise.all([tryToWrite(folder), listAside(folder), freeBytes(folder)]);
  return {
    folder,
    others: !wasOpen ? "kept out" : (await isOpen(folder)) ? "let in" : "shut out",
    ...(failure !== undefined && { failure }),
    aside,
    ...(free !== undefined && { free }),
  };
}

/** Whether others can access the folder. Windows has no such modes; a sticky folder like /tmp is shared by design. */
async function isOpen(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(unless("ENOENT", "ENOTDIR", "EACCES"));
  if (found?.isDirectory() !== true || process.platform === "win32") return false;
  return (found.mode & forOthers) !== 0 && (found.mode & sticky) === 0;
}

async function tryToWrite(folder: string): Promise<string | undefined> {
  const probe = join(folder, `.doctor-${randomUUID()}`);
  try {
    await writeFile(probe, Buffer.alloc(probeBytes), { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    return systemCode(error) === "ENOENT" ? whyNotMade(folder) : explain(error);
  } finally {
    await rm(probe, { force: true }).catch(unless("EACCES", "EPERM", "EROFS", "ENOTDIR"));
  }
}

/** Why the folder cannot be created in its nearest existing parent; undefined if it can. */
async function whyNotMade(folder: string): Promise<string | undefined> {
  const parent = dirname(folder);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return (await stat(parent)).isDirectory() ? undefined : "a part of its path is a file, not a folder";
  } catch (error) {
    return systemCode(error) === "ENOENT" && parent !== folder ? whyNotMade(parent) : explain(error);
  }
}

async function listAside(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => /[.]corrupt-[\dT:.Z-]+$/.test(name)).map((name) => join(folder, name));
}

async function freeBytes(folder: string): Promise<number | undefined> {
  const disk = await statfs(folder).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}
