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
 * Returns the host's status; undefined if no host runs.
 *
 * @throws if the host does not answer
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
  /** Ends a process at once. */
  readonly kill: (pid: number) => void;
  /** Milliseconds after which a host that does not answer is killed. Default: 15 seconds. */
  readonly waitTime?: number;
}

/**
 * Stops the host and waits until its process has ended. A host that does not answer is killed. Returns the process id;
 * undefined if no host ran.
 */
export async function stopHost(
  folder: RunFolder,
  { isRunning, kill, waitTime }: StopOptions,
): Promise<number | undefined> {
  const reached = await reach(folder, "stop", waitTime);
  if (reached.kind === "absent") return undefined;
  let pid: number | undefined;
  if (reached.kind === "open") {
    reached.connection.socket.destroy();
    ({ pid } = reached.connection.welcome);
  } else {
    pid = reached.reason === "silent" ? await lockHolder(folder.hostLock) : undefined;
    if (pid === undefined) throw refusal(reached);
    kill(pid);
  }
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, pollTime));
  return pid;
}

/** Milliseconds between two checks whether the process has ended. */
const pollTime = 20;

async function reach(folder: RunFolder, wants: Hello["wants"], waitTime?: number): Promise<Reached> {
  const token = readToken(folder);
  return token === undefined ? { kind: "absent" } : connectHost(folder.socket, { token, version: "", wants }, waitTime);
}

function refusal({ message }: Extract<Reached, { readonly kind: "refused" }>): Error {
  return new Error(`the background host refused: ${message}`);
}
