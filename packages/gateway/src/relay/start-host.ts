/** Starts the background host if none runs yet. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { explain, withLock } from "@fairlead/core/files";
import type { HostConnection } from "./connect-host.ts";
import { findHost, type RelayHello } from "./find-host.ts";
import { createRunFolder, type RunFolder } from "./run-folder.ts";

export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** A relay waits at most this many milliseconds while another relay starts the host. */
const startTime = 60_000;

/**
 * Connects to the running host, or starts one. If several relays do this at once, only one of them starts a host.
 * @param onStart Called with the process id of a host that this process has started.
 * @throws HostRefused, or an Error that says why no host can be started
 */
export async function findOrStartHost(
  folder: RunFolder,
  greeting: RelayHello,
  command: HostCommand,
  onStart?: (pid: number) => void,
): Promise<HostConnection> {
  const found = await findHost(folder, greeting);
  if (found !== undefined) return found;
  try {
    createRunFolder(folder);
    const start = (): Promise<HostConnection> => findOrStartAlone(folder, greeting, command, onStart);
    return await withLock(folder.startLock, start, { timeout: startTime });
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new Error(`the background host cannot start in ${folder.path}: ${explain(error)}`, { cause: error });
  }
}

/** The caller must hold the start lock. */
async function findOrStartAlone(
  folder: RunFolder,
  greeting: RelayHello,
  command: HostCommand,
  onStart: ((pid: number) => void) | undefined,
): Promise<HostConnection> {
  const other = await findHost(folder, greeting);
  if (other !== undefined) return other;
  await startHost(folder, command);
  const started = await findHost(folder, greeting);
  if (started === undefined) throw new Error("the background host started, but ended at once");
  onStart?.(started.welcome.pid);
  return started;
}

/** Resolves when this host, or one that was faster, is listening. */
async function startHost(folder: RunFolder, command: HostCommand): Promise<void> {
  const log = openLog(folder.log);
  const starter = spawnStarter(command, folder.all, log);
  closeSync(log);
  const outcome = await new Promise<string>((resolve) => {
    starter.on("error", (error) => resolve(explain(error)));
    // Without a process there are no pipes, for example because too many files are open. `error` follows.
    if (starter.pid === undefined) return;
    const said = starter.stdio[3] as Readable;
    const go = starter.stdio[4] as Writable;
    let text = "";
    said.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (text.includes("\n")) said.destroy();
    });
    said.on("close", () => resolve(text.trim()));
    go.on("error", () => {});
    // The end of the shell has made its own child an orphan.
    starter.once("exit", () => go.end("\n"));
  });
  if (outcome !== readyWord)
    throw new Error(`the background host did not start: ${outcome || "see its log: fairlead daemon logs"}`);
}

/**
 * Starts the host through processes that end at once. A client that ends often ends its whole process tree, all process
 * groups in it, and what was in them a moment ago. So the host must never be in the client's tree: the process that
 * starts it is no longer this relay's descendant, and the host gets its own session.
 */
function spawnStarter({ file, args, env, platform }: HostCommand, cwd: string, log: number): ChildProcess {
  const hasShell = platform !== "win32";
  const [starter, starterArgs] = hasShell
    ? ["/bin/sh", ["-c", '"$@" &', "sh", "/bin/sh", "-c", orphanScript, process.execPath, detachScript, file, ...args]]
    : [process.execPath, ["-e", detachScript, file, ...args]];
  return spawn(starter, starterArgs, {
    // Not the client's folder, because Windows does not remove a folder that a process uses.
    cwd,
    env,
    detached: true,
    windowsHide: true,
    // The host writes to the first pipe (file descriptor 3) when it is ready. The second one lets `orphanScript` go on.
    stdio: ["ignore", log, log, "pipe", "pipe"],
  });
}

/**
 * Waits until its parent has ended, then starts the host. Its first arguments are Node and `detachScript`, for systems
 * without the program `setsid`, such as macOS.
 */
const orphanScript = `
read -r _ <&4 || exit
exec 4<&-
detach=$1
shift
if [ -x /usr/bin/setsid ]; then /usr/bin/setsid "$@" & else exec "$0" -e "$detach" "$@"; fi
`;

/**
 * Starts the host in its own session, and ends at once. Windows has no sessions: there, a process tree is found by
 * parent processes that still run.
 */
const detachScript = `
const [, file, ...args] = process.argv;
const options = { detached: true, windowsHide: true, stdio: ["ignore", 1, 2, 3] };
require("node:child_process").spawn(file, args, options).unref();
`;

/** A new host writes this text to file descriptor 3 when relays can connect to it or to another host. */
export const readyWord = "ready";

/** When a host starts and `host.log` has more bytes than this, the file is renamed to `host.log.1`. */
const logBytes = 1024 * 1024;

function openLog(path: string): number {
  try {
    if (statSync(path).size > logBytes) renameSync(path, `${path}.1`);
  } catch {
    // The log file does not exist yet.
  }
  return openSync(path, "a", 0o600);
}
