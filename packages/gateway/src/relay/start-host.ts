/** Starts the background host if none runs yet. */

import { spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { withLock } from "@fairlead/core/files/atomic/lock";
import type { HostConnection } from "./connect-host.ts";
import { findHost, type RelayHello } from "./find-host.ts";
import { createRunFolder, type RunFolder } from "./run-folder.ts";

/** The command that starts a background host. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A relay waits at most this many milliseconds while another relay starts the host. */
const startTime = 60_000;

/**
 * Connects to the running host, or starts one. If several relays do this at once, only one of them starts a host.
 * @throws HostRefused, or an Error that says why no host can be started
 */
export async function findOrStartHost(
  folder: RunFolder,
  greeting: RelayHello,
  command: HostCommand,
): Promise<HostConnection> {
  const found = await findHost(folder, greeting);
  if (found !== undefined) return found;
  createRunFolder(folder);
  return withLock(
    folder.startLock,
    async () => {
      const other = await findHost(folder, greeting);
      if (other !== undefined) return other;
      await startHost(folder, command);
      const started = await findHost(folder, greeting);
      if (started === undefined) throw new Error("the background host started, but ended at once");
      return started;
    },
    { timeout: startTime },
  );
}

/** Resolves when this host, or one that was faster, is listening. */
async function startHost(folder: RunFolder, { file, args, env }: HostCommand): Promise<void> {
  const log = openLog(folder.log);
  const host = spawn(file, [...args], {
    // Not the client's folder, because Windows does not remove a folder that a process uses.
    cwd: folder.all,
    env,
    detached: true,
    windowsHide: true,
    // The host writes to the pipe (file descriptor 3) when it is ready.
    stdio: ["ignore", log, log, "pipe"],
  });
  closeSync(log);
  const said = host.stdio[3] as Readable;
  const outcome = await new Promise<string>((resolve) => {
    let text = "";
    said.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (text.includes("\n")) resolve(text.trim());
    });
    said.on("close", () => resolve(text.trim()));
    host.on("error", (error) => resolve(error.message));
  });
  said.destroy();
  host.unref();
  host.removeAllListeners();
  if (outcome !== readyWord)
    throw new Error(`the background host did not start: ${outcome || "see its log: fairlead daemon logs"}`);
}

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
