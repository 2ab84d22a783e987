/** The paths of the background host's files, such as its socket and token, by which relays find the host. */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { explain, findUnsafeFolder, systemCode } from "@fairlead/core/files";
import { speechNumber } from "./speech.ts";

/** What the paths depend on. */
export interface RunFolderOptions {
  /** The state folder, `~/.fairlead`. */
  readonly state: string;
  /**
   * Identifies the installation of Fairlead, in letters and digits. Relays connect only to a host of their own
   * installation.
   */
  readonly installation: string;
  /** The folder for temporary files. The socket is here if its path in the state folder would be too long. */
  readonly temporary: string;
  readonly platform: NodeJS.Platform;
}

/** The files of one background host. */
export interface RunFolder {
  /** The folder for the hosts of all installations. It contains the log. */
  readonly all: string;
  readonly path: string;
  /** A Unix socket, or a named pipe on Windows. */
  readonly socket: string;
  /** The folder of the socket if it is not `path`. */
  readonly socketFolder: string | undefined;
  readonly token: string;
  /** The lock of a relay that is starting a host. */
  readonly startLock: string;
  /** The lock of the running host. */
  readonly hostLock: string;
  readonly log: string;
}

/** Maximum length of a socket path, in bytes. macOS allows 104 bytes and Linux 108, including the final zero byte. */
const socketBytes = 103;

/** Returns the paths for this installation's host. Creates no file. */
export function runFolderOf({ state, installation, temporary, platform }: RunFolderOptions): RunFolder {
  const all = join(state, "run");
  return filesIn(join(all, `${speechNumber}-${installation}`), { all, temporary, platform });
}

/** Returns the paths for the host in the run folder `path`. */
export function filesIn(
  path: string,
  { all, temporary, platform }: Pick<RunFolder, "all"> & Pick<RunFolderOptions, "temporary" | "platform">,
): RunFolder {
  return {
    all,
    path,
    ...socketOf(path, temporary, platform),
    token: join(path, "token"),
    startLock: join(path, "start"),
    hostLock: join(path, "host"),
    log: join(all, "host.log"),
  };
}

function socketOf(
  path: string,
  temporary: string,
  platform: NodeJS.Platform,
): Pick<RunFolder, "socket" | "socketFolder"> {
  if (platform === "win32") return { socket: `\\\\.\\pipe\\fairlead-${digest(path)}`, socketFolder: undefined };
  const beside = join(path, "socket");
  if (Buffer.byteLength(beside) <= socketBytes) return { socket: beside, socketFolder: undefined };
  const socketFolder = join(temporary, `fairlead-${digest(path)}`);
  return { socket: join(socketFolder, "socket"), socketFolder };
}

/** Other users could put a socket of their own into the run folder, and would get the client's environment. */
export class UnsafeRunFolder extends Error {
  /** What the user can do. */
  readonly next: string;

  constructor(path: string, problem: string, next: string) {
    super(`${path} is not safe to use: ${problem}`);
    this.next = next;
  }
}

/**
 * Creates the folders, with access for this user only.
 *
 * @throws UnsafeRunFolder, or an Error if a folder cannot be created
 */
export function createRunFolder(folder: Pick<RunFolder, "path" | "socketFolder">): void {
  const { path, socketFolder } = folder;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (socketFolder !== undefined) mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
  checkRunFolder(folder);
}

/**
 * Reads the host's token. Returns undefined if there is none.
 *
 * @throws UnsafeRunFolder, or an Error if the token cannot be read
 */
export function readToken(folder: Pick<RunFolder, "path" | "token" | "socketFolder">): string | undefined {
  checkRunFolder(folder);
  try {
    return readFileSync(folder.token, "utf8").trim();
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw new Error(`${folder.token} cannot be read: ${explain(cause)}`, { cause });
  }
}

/** @throws UnsafeRunFolder if another user could have made a folder, or can replace what is in it */
function checkRunFolder({ path, socketFolder }: Pick<RunFolder, "path" | "socketFolder">): void {
  for (const each of [path, socketFolder ?? path]) {
    const found = findUnsafeFolder(each, process.getuid?.());
    if (found !== undefined) throw new UnsafeRunFolder(found.path, found.problem, found.next);
  }
  if (socketFolder !== undefined && !isPrivate(socketFolder))
    throw new UnsafeRunFolder(socketFolder, "other users can access it", `remove ${socketFolder}`);
}

/** All users share the folder for temporary files, so another user may have created this folder, or a link. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats === undefined || (stats.isDirectory() && (stats.mode & 0o077) === 0);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
