/** Checks whether a client is running, because some clients rewrite their settings file while they run. */

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Io } from "../shell/io.ts";
import { type ClientName, clients } from "./client.ts";

/** Time limit for `ps`, in milliseconds. */
const listTimeout = 2_000;

/** Whether the client is running. False if the list of processes cannot be read. */
export async function isRunning(client: ClientName, { platform }: Pick<Io, "platform">): Promise<boolean> {
  const names = platform === "linux" ? await fromProc() : platform === "darwin" ? await fromPs() : [];
  const running = new Set(names.map((name) => basename(name.trim())));
  return clients[client].commands.some((command) => running.has(command));
}

async function fromProc(): Promise<readonly string[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  // A process may end before its name is read.
  return Promise.all(ids.map((id) => readFile(join("/proc", id, "comm"), "utf8").catch(() => "")));
}

/**
 * Reads the process names from `ps`. Starts `ps` by its absolute path, because a folder in `PATH` may belong to an
 * untrusted workspace.
 */
function fromPs(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-A", "-o", "comm="], { timeout: listTimeout, env: {} }, (_error, stdout) =>
      resolve(stdout.split("\n")),
    );
  });
}
