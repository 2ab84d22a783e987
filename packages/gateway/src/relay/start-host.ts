/** Starts the background host if none runs. Relays load this file only then. */

import { spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { withLock } from "@fairlead/core/files/atomic/lock";
import type { HostConnection } from "./connect-host.ts";
import { findHost, type Greeting } from "./find-host.ts";
import { createRunFolder, type RunFolder } from "./run-folder.ts";

/** The command that runs a background host: the program and its arguments. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds that relays wait for each other while one of them starts the host. */
const startTime = 60_000;

/**
 * Connects to the host, or to a new one. Of several relays that start at the same time, one starts the host and the
 * others wait for it.
 *
 * @throws HostRefused, or an error that says why no host can be started
 */
export async function findOrStartHost(
  folder: RunFolder,
  greeting: Greeting,
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
      if (started === undefined) throw new Error("the background host ended right after its start");
      return started;
    },
    { timeout: startTime },
  );
}

/** Resolves when a host listens: the new one, or one that was there already. */
async function startHost(folder: RunFolder, { file, args, env }: HostCommand): Promise<void> {
  const log = openLog(folder.log);
  const host = spawn(file, [...args], {
    // Not in the folder of a client: it could not be removed as long as the host runs.
    cwd: folder.all,
    env,
    detached: true,
    windowsHide: true,
    // The fourth one tells that the host is ready.
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
  if (outcome !== readyWord) throw new Error(`the background host did not start: ${outcome || "see the log"}`);
}

/** What a host writes to its fourth file when it listens, or when another host does. */
export const readyWord = "ready";

/** A larger log is renamed when a host starts, and the one before it is replaced. */
const logBytes = 1024 * 1024;

function openLog(path: string): number {
  try {
    if (statSync(path).size > logBytes) renameSync(path, `${path}.1`);
  } catch {
    // There is none yet.
  }
  return openSync(path, "a", 0o600);
}
