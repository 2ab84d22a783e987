/** The background host (daemon): one process for each user and installation. It ends after ten minutes without work. */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep, systemClock } from "@fairlead/core/clock";
import { explain, type HeldLock, systemCode, tryLock } from "@fairlead/core/files";
import type { Gateway, Workspace } from "../gateway.ts";
import { connectHost } from "../relay/connect-host.ts";
import { createRunFolder, filesIn, type RunFolder, readToken } from "../relay/run-folder.ts";
import type { CommandCaller, RelayClient } from "../relay/speech.ts";
import { listenForRelays } from "./listen.ts";

/** What a background host needs. `note` writes a line to its log. */
export interface DaemonOptions {
  readonly folder: RunFolder;
  readonly version: string;
  /** The host's environment variable `PATH`, which `fairlead daemon status` shows. */
  readonly path?: string | undefined;
  /** Creates the gateway. Not called if another host already runs. */
  readonly createGateway: () => Promise<Gateway>;
  readonly workspaceOf: (client: RelayClient) => Promise<Workspace>;
  /** Returns the workspace of a command; undefined if this host has another home folder than the command. */
  readonly commandWorkspace: (command: CommandCaller) => Workspace | undefined;
  /** Called when relays can connect, to this host or to one that already runs. */
  readonly onReady: () => void;
  readonly note: (text: string) => void;
  /** Aborting this signal ends the host. */
  readonly signal: AbortSignal;
  /** Milliseconds without clients and requests after which the host ends. Default: ten minutes. */
  readonly idleTime?: number;
  readonly clock?: Clock;
  /** The folder for temporary files, in which other hosts may have their sockets. */
  readonly temporary: string;
  readonly platform: NodeJS.Platform;
}

const defaultIdleTime = 600_000;

/** Runs the host until it ends. Returns at once if another host of this installation runs. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { folder, onReady, note } = options;
  createRunFolder(folder);
  const lock = await lockUnlessServed(options);
  if (lock === undefined) return onReady();
  try {
    if (await isListening(folder)) {
      // That host's lock expired, for example while the computer was asleep.
      note("another host already listens");
      return onReady();
    }
    await runLocked(options, lock);
  } finally {
    await lock.release();
  }
}

/** A host that is starting or ending gets this many milliseconds to listen or to end. Ending its servers takes time. */
const otherHostTime = 10_000;
const pollTime = 50;

/**
 * Takes the host's lock. Returns undefined if another host listens.
 *
 * @throws Error if the other host neither listens nor ends
 */
async function lockUnlessServed({ folder, signal, clock = systemClock }: DaemonOptions): Promise<HeldLock | undefined> {
  for (const end = clock.now() + otherHostTime; ; await sleep(clock, pollTime, signal)) {
    const lock = await tryLock(folder.hostLock);
    if (lock !== undefined) return lock;
    // Without a token, no relay can connect yet.
    if (readToken(folder) !== undefined && (await isListening(folder))) return undefined;
    if (clock.now() >= end)
      throw new Error("another host holds the lock, but cannot be reached: to end it, run fairlead daemon restart");
  }
}

async function runLocked(options: DaemonOptions, lock: HeldLock): Promise<void> {
  const { folder, note } = options;
  removeSocket(folder);
  await attempt(() => removeOldFiles(folder), "old files were not removed", note);
  const gateway = await options.createGateway();
  try {
    await serveRelays(options, gateway);
  } finally {
    await gateway[Symbol.asyncDispose]();
    if (!lock.isLost()) await attempt(() => removeSocket(folder), "the host's socket was not removed", note);
  }
}

/** Does work that the host can do without, for example because its disk is read-only by now. */
async function attempt(work: () => void | Promise<void>, problem: string, note: DaemonOptions["note"]): Promise<void> {
  try {
    await work();
  } catch (error) {
    note(`${problem}: ${explain(error)}`);
  }
}

/** Serves relays until the host is told to end. */
async function serveRelays(options: DaemonOptions, gateway: Gateway): Promise<void> {
  const { folder, version, path, workspaceOf, commandWorkspace, onReady, note, signal } = options;
  const { idleTime = defaultIdleTime, clock = systemClock } = options;
  const token = randomBytes(32).toString("hex");
  let isRetired = false;
  let callOff: (() => void) | undefined;
  let stop: (reason: string) => void = () => {};
  const stopped = new Promise<string>((resolve) => {
    stop = resolve;
  });

  /** Ends the host when it is idle: at once if a newer host has replaced it, otherwise after the idle time. */
  function watchActivity(): void {
    callOff?.();
    callOff = undefined;
    if (gateway.activity() > 0) return;
    if (isRetired) stop("a newer host has replaced this host");
    else if (!hasToken(folder, token)) stop("its files were removed, so no client can find it");
    else callOff = clock.after(idleTime, () => stop("idle"));
  }

  const listener = await listenForRelays({
    folder,
    token,
    version,
    path,
    gateway,
    workspaceOf,
    commandWorkspace,
    note,
    clock,
    onStop: () => stop("asked to stop"),
    onRetire() {
      isRetired = true;
      listener.retire();
      watchActivity();
    },
  });
  const onAbort = (): void => stop("terminated");
  const stopWatching = gateway.onActivity(watchActivity);
  try {
    // Written last, because a relay connects as soon as it can read the token.
    writeFileSync(folder.token, token, { mode: 0o600 });
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    watchActivity();
    note(`listening: version ${version}, process ${process.pid}`);
    onReady();
    void attempt(() => retireOthers(options), "older hosts were not told that this host replaces them", note);
    note(`ends: ${await stopped}`);
  } finally {
    signal.removeEventListener("abort", onAbort);
    stopWatching();
    callOff?.();
    await listener.close();
  }
}

/** Whether relays can find the host. An error such as too many open files passes, so only a missing file counts. */
function hasToken(folder: RunFolder, token: string): boolean {
  try {
    return readFileSync(folder.token, "utf8") === token;
  } catch (error) {
    return systemCode(error) !== "ENOENT";
  }
}

async function isListening(folder: RunFolder): Promise<boolean> {
  const reached = await connectHost(folder.socket, { token: readToken(folder) ?? "", version: "", wants: "status" });
  if (reached.kind === "open") reached.connection.socket.destroy();
  return reached.kind !== "absent";
}

/** Removes a host's socket and token. The caller must hold the host's lock. */
function removeSocket({ socket, token }: RunFolder): void {
  if (!socket.startsWith("\\\\")) rmSync(socket, { force: true });
  rmSync(token, { force: true });
}

/** Files that record sent requests, and temporary files, are removed after this many milliseconds. */
const filesTime = 86_400_000;

function removeOldFiles({ path }: RunFolder): void {
  for (const name of readdirSync(path)) {
    if (!/[.](?:sent|tmp)$/.test(name)) continue;
    const file = join(path, name);
    const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < Date.now() - filesTime) rmSync(file, { force: true });
  }
}

/** Tells the hosts of other installations to accept no new clients. Removes the folders of hosts that have ended. */
async function retireOthers({ folder, temporary, platform, note, version }: DaemonOptions): Promise<void> {
  for (const name of readdirSync(folder.all)) {
    const other = filesIn(join(folder.all, name), { all: folder.all, temporary, platform });
    if (!/^\d+-\w+$/.test(name) || other.path === folder.path) continue;
    try {
      const token = readToken(other);
      const reached =
        token === undefined ? undefined : await connectHost(other.socket, { token, version, wants: "retire" });
      if (reached?.kind === "open") {
        reached.connection.socket.destroy();
        note(`this host replaces the host with process id ${reached.connection.welcome.pid}`);
      } else if (reached === undefined || reached.kind === "absent") await removeFolder(other);
    } catch (error) {
      note(`the host in ${other.path} could not be told that this host replaces it: ${explain(error)}`);
    }
  }
}

async function removeFolder(other: RunFolder): Promise<void> {
  const lock = await tryLock(other.hostLock);
  if (lock === undefined) return;
  try {
    // A relay may be starting a host in this folder.
    const start = await tryLock(other.startLock);
    if (start === undefined) return;
    await start.release();
    removeSocket(other);
    if (other.socketFolder !== undefined) rmSync(other.socketFolder, { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  rmSync(other.path, { recursive: true, force: true });
}
