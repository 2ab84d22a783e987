/** The paths of the background host's files, such as its socket and token, by which relays find the host. */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/**
 * Creates the folders, with access for this user only.
 *
 * @throws Error if a folder cannot be created or belongs to another user
 */
export function createRunFolder({ path, socketFolder }: RunFolder): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (socketFolder === undefined) return;
  mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
  if (!isPrivate(socketFolder))
    throw new Error(`${socketFolder} is not safe to use: it belongs to another user, or other users can access it`);
}

/** Reads the host's token. Returns undefined if there is none, or if other users can access the socket's folder. */
export function readToken({ token, socketFolder }: Pick<RunFolder, "token" | "socketFolder">): string | undefined {
  try {
    if (socketFolder !== undefined && !isPrivate(socketFolder)) return undefined;
    return readFileSync(token, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** All users share the folder for temporary files, so another user may have created this folder. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
