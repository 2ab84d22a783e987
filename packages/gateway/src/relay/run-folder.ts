/** The paths of the background host's files, such as its socket and its token. Relays find the host through them. */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { speechNumber } from "./speech.ts";

/** The values that decide where the run folder is. */
export interface RunFolderOptions {
  /** The state folder, `~/.fairlead`. */
  readonly state: string;
  /**
   * Identifies the installed Fairlead, in letters and digits. Relays connect only to a host of the same installation.
   */
  readonly installation: string;
  /** The folder for temporary files. The socket is there if its path in the state folder would be too long. */
  readonly temporary: string;
  readonly platform: NodeJS.Platform;
}

/** The files of one background host. */
export interface RunFolder {
  /** The folder that hosts of all versions share. It contains the log. */
  readonly all: string;
  readonly path: string;
  /** A Unix socket, or a named pipe on Windows. */
  readonly socket: string;
  /** The folder of the socket, if it differs from `path`. */
  readonly socketFolder: string | undefined;
  readonly token: string;
  /** The lock file that a relay holds while it starts a host. */
  readonly startLock: string;
  /** The lock file that the host holds while it runs. */
  readonly hostLock: string;
  readonly log: string;
}

/** Maximum length of a socket path, in bytes. macOS allows 104 bytes and Linux 108, including the final zero byte. */
const socketBytes = 103;

/** Returns the files of this installation's host. Creates no file. */
export function runFolderOf({ state, installation, temporary, platform }: RunFolderOptions): RunFolder {
  const all = join(state, "run");
  return filesIn(join(all, `${speechNumber}-${installation}`), { all, temporary, platform });
}

/** Returns the files of the host in a given run folder. */
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
    throw new Error(`${socketFolder} cannot be used: it belongs to another user, or other users can read it`);
}

/**
 * Reads the host's token. Returns undefined if there is no token, or if other users can access the folder of the
 * socket.
 */
export function readToken({ token, socketFolder }: Pick<RunFolder, "token" | "socketFolder">): string | undefined {
  try {
    if (socketFolder !== undefined && !isPrivate(socketFolder)) return undefined;
    return readFileSync(token, "utf8").trim();
  } catch {
    return undefined;
  }
}

/**
 * Whether only this user can access the folder. Another user may have created it, because all users share the folder
 * for temporary files.
 */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

/** Returns a short text that identifies a path. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
