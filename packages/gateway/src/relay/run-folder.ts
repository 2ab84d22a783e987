/** Where the relays of a user find the background host: its folder, socket, token and log. Loads nothing of the host. */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { speechNumber } from "./speech.ts";

/** The user's surroundings that decide where the run folder is. */
export interface RunFolderOptions {
  /** The state folder, `~/.fairlead`. */
  readonly state: string;
  /** Identifies the installed program, in letters and digits: a host serves only relays of the same installation. */
  readonly installation: string;
  /** The folder for temporary files, for a socket whose path would be too long. */
  readonly temporary: string;
  readonly platform: NodeJS.Platform;
}

/** The files of one background host. */
export interface RunFolder {
  /** The folder of all versions; the log is here. */
  readonly all: string;
  readonly path: string;
  /** A Unix socket, or a named pipe on Windows. */
  readonly socket: string;
  /** The folder of the socket, if it is not `path`. */
  readonly socketFolder: string | undefined;
  readonly token: string;
  /** Locked by the relay that starts a host. */
  readonly startLock: string;
  /** Locked by the host as long as it runs. */
  readonly hostLock: string;
  readonly log: string;
}

/** macOS allows 104 bytes with the final zero, Linux 108. */
const socketBytes = 103;

/** The files of the host of this installation. Creates nothing. */
export function runFolderOf({ state, installation, temporary, platform }: RunFolderOptions): RunFolder {
  const all = join(state, "run");
  return filesIn(join(all, `${speechNumber}-${installation}`), { all, temporary, platform });
}

/** The files of a host in a given run folder. */
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

/** Creates the folders, for this user only. @throws if they cannot be made, or belong to another user */
export function createRunFolder({ path, socketFolder }: RunFolder): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (socketFolder === undefined) return;
  mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
  // Another user may have made it first: the folder for temporary files belongs to everyone.
  const { uid, mode } = lstatSync(socketFolder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw new Error(`${socketFolder} cannot be used: it belongs to another user, or others may open it`);
}

/** The host's token; undefined if no host has run. */
export function readToken({ token }: Pick<RunFolder, "token">): string | undefined {
  try {
    return readFileSync(token, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** Used only where a path does not fit: loading the module takes longer than all the rest of a relay. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
