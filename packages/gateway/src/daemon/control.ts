/** Asks the background host for its status, or tells it to stop. */

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
  const reached = await ask(folder, "status");
  if (reached === undefined) return undefined;
  const { socket, welcome } = reached;
  socket.destroy();
  const { pid, version, status = { clients: [], servers: [] } } = welcome;
  return { pid, version, ...status };
}

/** Stops the host and waits until its process has ended. Returns the process id; undefined if no host ran. */
export async function stopHost(folder: RunFolder, isRunning: (pid: number) => boolean): Promise<number | undefined> {
  const reached = await ask(folder, "stop");
  if (reached === undefined) return undefined;
  const { socket, welcome } = reached;
  socket.destroy();
  while (isRunning(welcome.pid)) await new Promise((resolve) => setTimeout(resolve, pollTime));
  return welcome.pid;
}

/** Milliseconds between two checks whether the process has ended. */
const pollTime = 20;

async function ask(
  folder: RunFolder,
  wants: Hello["wants"],
): Promise<Extract<Reached, { readonly kind: "open" }>["connection"] | undefined> {
  const token = readToken(folder);
  if (token === undefined) return undefined;
  const reached = await connectHost(folder.socket, { token, version: "", wants });
  if (reached.kind === "absent") return undefined;
  if (reached.kind === "refused") throw new Error(`the background host refused: ${reached.message}`);
  return reached.connection;
}
