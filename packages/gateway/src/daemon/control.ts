/** Asks the background host for its status, or tells it to stop. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { lockHolder } from "@fairlead/core/files";
import { connectHost, type Reached } from "../relay/connect-host.ts";
import { type RunFolder, readToken, UnsafeRunFolder } from "../relay/run-folder.ts";
import type { Hello, HostStatus } from "../relay/speech.ts";

/** A running host. */
export interface BackgroundHost extends HostStatus {
  readonly pid: number;
  readonly version: string;
}

/**
 * Returns the host's status, or undefined if no host runs.
 * @throws Error if the host does not answer
 */
export async function hostStatus(folder: RunFolder): Promise<BackgroundHost | undefined> {
  const reached = await reach(folder, "status");
  if (reached.kind === "absent") return undefined;
  if (reached.kind === "refused") throw refusal(reached);
  const { socket, welcome } = reached.connection;
  socket.destroy();
  const { pid, version, status = { clients: [], servers: [] } } = welcome;
  return { pid, version, ...status };
}

/** How to check and end a process, and how long to wait. */
export interface StopOptions {
  readonly isRunning: (pid: number) => boolean;
  readonly kill: (pid: number, signal: "SIGTERM" | "SIGKILL") => void;
  /**
   * Milliseconds to wait, first for the host's answer and then for its end. Then the host is killed. Default: 15
   * seconds.
   */
  readonly waitTime?: number;
  /** Measures the wait for the host's end. Default: the system's clock. */
  readonly clock?: Pick<Clock, "now">;
}

/**
 * Stops the host, waits for its end and returns its process id. Returns undefined if no host ran. A host that cannot be
 * asked, for example because it is still starting, gets SIGTERM. A host that does not answer or end is killed.
 *
 * @throws Error if the host does not end and Fairlead cannot be sure which process it is
 */
export async function stopHost(
  folder: RunFolder,
  { isRunning, kill, waitTime = usualWaitTime, clock = systemClock }: StopOptions,
): Promise<number | undefined> {
  const reached = await reach(folder, "stop", waitTime);
  const isSilent = reached.kind === "refused" && reached.reason === "silent";
  const pid = await pidOf(folder, reached);
  if (pid === undefined) return undefined;
  if (reached.kind !== "open" && !isSilent) kill(pid, "SIGTERM");
  const end = clock.now() + waitTime;
  if (!isSilent && (await hasEnded(pid, isRunning, () => clock.now() >= end))) return pid;
  // Only a process that holds the lock is surely the host. The id may belong to another program by now.
  if ((await lockHolder(folder.hostLock)) === pid) kill(pid, "SIGKILL");
  else if (isRunning(pid)) throw new Error(`the background host was told to stop, but process ${pid} still runs`);
  await hasEnded(pid, isRunning);
  return pid;
}

/** Returns the host's process id. Undefined if no host runs. */
async function pidOf(folder: RunFolder, reached: Reached): Promise<number | undefined> {
  if (reached.kind === "open") {
    reached.connection.socket.destroy();
    return reached.connection.welcome.pid;
  }
  const pid = await lockHolder(folder.hostLock);
  if (pid === undefined && reached.kind === "refused") throw refusal(reached);
  return pid;
}

const usualWaitTime = 15_000;
const pollTime = 20;

/** Returns false if the process still runs when `isLate` returns true. */
async function hasEnded(
  pid: number,
  isRunning: StopOptions["isRunning"],
  isLate: () => boolean = () => false,
): Promise<boolean> {
  while (isRunning(pid)) {
    if (isLate()) return false;
    await new Promise((resolve) => setTimeout(resolve, pollTime));
  }
  return true;
}

async function reach(folder: RunFolder, wants: Hello["wants"], waitTime?: number): Promise<Reached> {
  const token = readableToken(folder);
  return token === undefined ? { kind: "absent" } : connectHost(folder.socket, { token, version: "", wants }, waitTime);
}

/** A host whose token cannot be read is found by its lock. */
function readableToken(folder: RunFolder): string | undefined {
  try {
    return readToken(folder);
  } catch (error) {
    if (error instanceof UnsafeRunFolder) throw error;
    return undefined;
  }
}

function refusal({ message }: Extract<Reached, { readonly kind: "refused" }>): Error {
  return new Error(`the background host refused the command: ${message}`);
}
