/** Ends a server with everything it has started, and returns only when all of it is gone. */

import { join } from "node:path";
import { uptime } from "../rpc/uptime.ts";
import { settledWithin } from "../rpc/within.ts";
import type { WireTimes } from "../target.ts";
import type { ServerProcess } from "./process.ts";
import { isAlive } from "./process-table.ts";

type Graces = Pick<WireTimes, "endGrace" | "termGrace" | "killGrace">;

const firstPause = 2;
const longestPause = 200;

/** Its stdin has been closed already. Returns the processes that could not be ended, if there are any. */
export async function endTree(server: ServerProcess, graces: Graces): Promise<readonly number[]> {
  const left = await (process.platform === "win32" ? endWindowsTree(server, graces) : endPosixTree(server, graces));
  // A process that nobody can end must not keep the host from ending; neither must a pipe that somebody still holds.
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
    // While a member lives, the number is not given to another group. Once it is free, it is not ours any more.
    groupOver ||= signal(-pid, 0) === "ESRCH";
    // Zombies answer too; only the table of processes tells them from the living.
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

/** What left the group (`setsid`, double forks) still carries the tag. */
async function sweep({ registration: enrolment }: ServerProcess, grace: number): Promise<number[]> {
  const killed = new Set<number>();
  await repeat(uptime() + grace, async () => {
    const tagged = await enrolment.tagged();
    for (const pid of tagged) {
      signal(pid, "SIGKILL");
      killed.add(pid);
    }
    // A dying process loses its environment before it is gone.
    for (const pid of killed) if (!isAlive(pid)) killed.delete(pid);
    return tagged.length === 0 && killed.size === 0;
  });
  return [...killed];
}

/** A console program on Windows cannot be asked, only ended; `/T` includes what it has started, as long as it lives. */
async function endWindowsTree(server: ServerProcess, { endGrace, killGrace }: Graces): Promise<number[]> {
  if (await settledWithin(server.exited, endGrace)) return [];
  const { spawn } = await import("node:child_process");
  const program = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe");
  const taskkill = spawn(program, ["/PID", String(server.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  // Without the program there is still the process itself.
  taskkill.once("error", () => signal(server.pid, "SIGKILL"));
  return (await settledWithin(server.exited, killGrace)) ? [] : [server.pid];
}

/** What the system objected to: `ESRCH` when nobody was there, `EPERM` when they are not ours to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): unknown {
  try {
    process.kill(pid, name);
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

/** Tries until it is true or the time is over, with growing pauses; true the first time costs no pause. */
async function repeat(end: number, attempt: () => Promise<boolean>): Promise<boolean> {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    if (await attempt()) return true;
    if (uptime() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
