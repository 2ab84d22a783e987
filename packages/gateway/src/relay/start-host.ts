/** Starts the background host if none runs. */

import { spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { withLock } from "@fairlead/core/files/atomic/lock";
import type { HostConnection } from "./connect-host.ts";
import { findHost, type RelayHello } from "./find-host.ts";
import { createRunFolder, type RunFolder } from "./run-folder.ts";

/** The command that starts a background host: the program and its arguments. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds that a relay waits while another relay starts the host. */
const startTime = 60_000;

/**
 * Connects to the running host, or starts a new one. If several relays start at the same time, one of them starts the
 * host and the others wait.
 *
 * @throws HostRefused, or an Error with the reason why no host can be started
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
      if (started === undefined) throw new Error("the background host ended right after its start");
      return started;
    },
    { timeout: startTime },
  );
}

/** Starts a host. Resolves when this host listens, or when another host already listens. */
async function startHost(folder: RunFolder, { file, args, env }: HostCommand): Promise<void> {
  const log = openLog(folder.log);
  const host = spawn(file, [...args], {
    // The host must not use the client's folder as its working folder, because Windows does not remove a folder in use.
    cwd: folder.all,
    env,
    detached: true,
    windowsHide: true,
    // The host writes to the fourth file descriptor when it is ready.
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

/**
 * The text that a new host writes to its fourth file descriptor when it listens, or when another host already listens.
 */
export const readyWord = "ready";

/** Maximum size of the log file, in bytes. When a host starts, a larger `host.log` is renamed to `host.log.1`. */
const logBytes = 1024 * 1024;

function openLog(path: string): number {
  try {
    if (statSync(path).size > logBytes) renameSync(path, `${path}.1`);
  } catch {
    // The log file does not exist yet.
  }
  return openSync(path, "a", 0o600);
}
