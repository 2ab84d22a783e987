/** Ends a server process and all its child processes, and waits until they have ended. */

import { join } from "node:path";
import { settledWithin, uptime } from "../rpc/time.ts";
import type { WireTimes } from "../target.ts";
import type { ServerProcess } from "./process.ts";
import { isAlive } from "./process-table.ts";

type Graces = Pick<WireTimes, "endGrace" | "termGrace" | "killGrace">;

const firstPause = 2;
const longestPause = 200;

/** Ends a server. To let it end by itself, close its stdin before. Returns the ids of the processes that still run. */
export async function endTree(server: ServerProcess, graces: Graces): Promise<readonly number[]> {
  const left = await (process.platform === "win32" ? endWindowsTree(server, graces) : endPosixTree(server, graces));
  // If the server still runs, neither its process nor its pipes may keep the host running.
  server.unref();
  for (const pipe of [server.stdin, server.stdout, server.stderr]) pipe.destroy();
  if (left.length === 0) server.registration.over();
  return left;
}

async function endPosixTree(server: ServerProcess, { endGrace, termGrace, killGrace }: Graces): Promise<number[]> {
  const { pid, exited } = server;
  let groupOver = false;

  async function lives(): Promise<boolean> {
    if (server.isRunning()) return true;
    // Once the group is gone (ESRCH), a new group may get its number. So it is not checked again.
    groupOver ||= signal(-pid, 0) === "ESRCH";
    // Signal 0 also succeeds if only zombies are left, so the process table is read too.
    return !groupOver && (await server.registration.groupLives());
  }

  async function goneWithin(grace: number): Promise<boolean> {
    const end = uptime() + grace;
    return (await settledWithin(exited, grace)) && (await repeat(end, async () => !(await lives())));
  }

  await settledWithin(exited, endGrace);
  if (await lives()) {
    signal(-pid, "SIGTERM");
    if (!(await goneWithin(termGrace))) {
      signal(-pid, "SIGKILL");
      await goneWithin(killGrace);
    }
  }
  const left = await sweep(server, killGrace);
  if (server.isRunning()) left.push(pid);
  return left;
}

/**
 * Kills child processes that have left the process group (`setsid`, double fork). They still have the server's
 * environment variable.
 */
async function sweep({ registration }: ServerProcess, grace: number): Promise<number[]> {
  const killed = new Set<number>();
  await repeat(uptime() + grace, async () => {
    const tagged = await registration.tagged();
    for (const pid of tagged) {
      signal(pid, "SIGKILL");
      killed.add(pid);
    }
    // While a process ends, its environment is no longer readable. So the ids of killed processes are kept.
    for (const pid of killed) if (!isAlive(pid)) killed.delete(pid);
    return tagged.length === 0 && killed.size === 0;
  });
  return [...killed];
}

/** Console programs on Windows get no SIGTERM. `taskkill /T` also ends child processes whose parent still runs. */
async function endWindowsTree(server: ServerProcess, { endGrace, killGrace }: Graces): Promise<number[]> {
  if (await settledWithin(server.exited, endGrace)) return [];
  const { spawn } = await import("node:child_process");
  const program = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe");
  const taskkill = spawn(program, ["/PID", String(server.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  // If taskkill.exe cannot be started, Fairlead kills at least the server process.
  taskkill.once("error", () => signal(server.pid, "SIGKILL"));
  return (await settledWithin(server.exited, killGrace)) ? [] : [server.pid];
}

/** Returns undefined, or the error code (for example `ESRCH`: there is no such process). */
function signal(pid: number, name: NodeJS.Signals | 0): unknown {
  try {
    process.kill(pid, name);
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

/** Repeats an attempt, with growing pauses, until it returns true or the time `end` is reached. */
async function repeat(end: number, attempt: () => Promise<boolean>): Promise<boolean> {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    if (await attempt()) return true;
    if (uptime() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
