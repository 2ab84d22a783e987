/** Asks the background host for its status, or tells it to stop. */

import { lockHolder } from "@fairlead/core/files/atomic/lock-owner";
import { connectHost, type Reached } from "../relay/connect-host.ts";
import { type RunFolder, readToken } from "../relay/run-folder.ts";
import type { Hello, HostStatus } from "../relay/speech.ts";

/** A running host. */
export interface RunningHost extends HostStatus {
  readonly pid: number;
  readonly version: string;
}

/**
 * Returns the host's status. Returns undefined if no host runs.
 *
 * @throws Error if the host does not answer
 */
export async function hostStatus(folder: RunFolder): Promise<RunningHost | undefined> {
  const reached = await reach(folder, "status");
  if (reached.kind === "absent") return undefined;
  if (reached.kind === "refused") throw refusal(reached);
  const { socket, welcome } = reached.connection;
  socket.destroy();
  const { pid, version, status = { clients: [], servers: [] } } = welcome;
  return { pid, version, ...status };
}

export interface StopOptions {
  readonly isRunning: (pid: number) => boolean;
  readonly kill: (pid: number) => void;
  /** Milliseconds to wait for the host's answer, and then for its end, before it is killed. Default: 15 seconds. */
  readonly waitTime?: number;
}

/**
 * Stops the host and waits until its process has ended. Kills a host that does not answer or does not end. Returns the
 * process id. Returns undefined if no host ran.
 *
 * @throws Error if the host does not end, and Fairlead is not certain which process is the host
 */
export async function stopHost(
  folder: RunFolder,
  { isRunning, kill, waitTime = usualWaitTime }: StopOptions,
): Promise<number | undefined> {
  const reached = await reach(folder, "stop", waitTime);
  if (reached.kind === "absent") return undefined;
  if (reached.kind === "refused") {
    const pid = reached.reason === "silent" ? await lockHolder(folder.hostLock) : undefined;
    if (pid === undefined) throw refusal(reached);
    kill(pid);
    await hasEnded(pid, isRunning);
    return pid;
  }
  const { socket, welcome } = reached.connection;
  socket.destroy();
  const { pid } = welcome;
  if (await hasEnded(pid, isRunning, waitTime)) return pid;
  // A host holds its lock while it runs. Without the lock, the process id may belong to another program.
  if ((await lockHolder(folder.hostLock)) === pid) kill(pid);
  else if (isRunning(pid)) throw new Error(`the background host was told to stop, but process ${pid} still runs`);
  await hasEnded(pid, isRunning);
  return pid;
}

const usualWaitTime = 15_000;
/** Milliseconds between two checks whether the process has ended. */
const pollTime = 20;

/** Waits until the process has ended or the time is over. Returns true if the process has ended. */
async function hasEnded(
  pid: number,
  isRunning: StopOptions["isRunning"],
  time: number = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const end = performance.now() + time;
  while (isRunning(pid)) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, pollTime));
  }
  return true;
}

async function reach(folder: RunFolder, wants: Hello["wants"], waitTime?: number): Promise<Reached> {
  const token = readToken(folder);
  return token === undefined ? { kind: "absent" } : connectHost(folder.socket, { token, version: "", wants }, waitTime);
}

function refusal({ message }: Extract<Reached, { readonly kind: "refused" }>): Error {
  return new Error(`the background host refused the command: ${message}`);
}
