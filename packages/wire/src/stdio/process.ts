/** Starts a server's process in its own process group, with exactly the given environment. */

import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { StdioTarget } from "../target.ts";
import type { ProcessRegistration, ProcessRegistry } from "./process-registry.ts";

/** How a process ended: its exit code, or the signal that ended it. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The error if the process could not be started. */
  readonly error?: Error;
}

/** A server's running process, with its pipes. */
export interface ServerProcess {
  /** The process id. It is also the number of the process group, except on Windows. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly registration: ProcessRegistration;
  isRunning(): boolean;
  /** Resolves when the process has ended. Its child processes may still run. */
  readonly exited: Promise<Exit>;
  /** Resolves when the process has ended and its pipes are closed. Its child processes may keep the pipes open. */
  readonly finished: Promise<void>;
  /** Lets the host exit while the process runs. */
  unref(): void;
}

/**
 * Starts the process. Resolves when it runs.
 *
 * @throws Error the system's error, which `spawn-failure.ts` explains.
 */
export async function startProcess(target: StdioTarget, processes: ProcessRegistry): Promise<ServerProcess> {
  const spawn = await loadSpawn();
  const registration = await processes.register();
  try {
    const child = spawn(target.command, target.args, {
      cwd: target.cwd,
      env: { ...target.env, ...registration.environment },
      // On POSIX, `detached` creates a process group. On Windows, it would open a window.
      detached: process.platform !== "win32",
      windowsHide: true,
      shell: false,
    });
    // The process exists before the event `spawn`, so the watchdog must know it already.
    if (child.pid !== undefined) registration.started(child.pid);
    const exited = exitOf(child);
    const finished = new Promise<void>((resolve) => child.once("close", () => resolve()));
    await once(child, "spawn");
    const { pid = 0, stdin, stdout, stderr } = child;
    const isRunning = () => child.exitCode === null && child.signalCode === null;
    const unref = () => child.unref();
    return { pid, stdin, stdout, stderr, registration, isRunning, exited, finished, unref };
  } catch (error) {
    registration.over();
    throw error;
  }
}

function exitOf(child: ChildProcessWithoutNullStreams): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.on("error", (error) => resolve({ code: null, signal: null, error }));
  });
}

type Spawn = (
  command: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio,
) => ChildProcessWithoutNullStreams;

/** On Windows, `cross-spawn` is needed to start scripts such as `npx.cmd`. */
async function loadSpawn(): Promise<Spawn> {
  if (process.platform === "win32") return (await import("cross-spawn")).default.spawn;
  return process.getBuiltinModule("node:child_process").spawn;
}
