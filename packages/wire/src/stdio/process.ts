/** Starts a server's process, in a group of its own and with exactly the environment it was given. */

import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { StdioTarget } from "../target.ts";
import type { ProcessRegistration, ProcessRegistry } from "./process-registry.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** On Windows a missing command shows only now. */
  readonly error?: Error;
}

export interface ServerProcess {
  /** Also the process group, but for Windows. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly registration: ProcessRegistration;
  isRunning(): boolean;
  /** The process itself is gone; what it started may live on. */
  readonly exited: Promise<Exit>;
  /** It is gone and its pipes were read to their end: never, while something it started holds them open. */
  readonly finished: Promise<void>;
  /** Stops keeping the host alive for it. */
  unref(): void;
}

/** Rejects with what the system said; `spawn-failure.ts` makes sense of it. */
export async function startProcess(target: StdioTarget, keeper: ProcessRegistry): Promise<ServerProcess> {
  const spawn = await loadSpawn();
  const enrolment = await keeper.register();
  try {
    const child = spawn(target.command, target.args, {
      cwd: target.cwd,
      env: { ...target.env, ...enrolment.environment },
      // On POSIX this makes it the leader of a group; on Windows it would only open a window.
      detached: process.platform !== "win32",
      windowsHide: true,
      shell: false,
    });
    // Told at once, not when the start is confirmed: from here on it exists.
    if (child.pid !== undefined) enrolment.started(child.pid);
    const exited = exitOf(child);
    const finished = new Promise<void>((resolve) => child.once("close", () => resolve()));
    await once(child, "spawn");
    const { pid = 0, stdin, stdout, stderr } = child;
    const isRunning = () => child.exitCode === null && child.signalCode === null;
    return {
      pid,
      stdin,
      stdout,
      stderr,
      registration: enrolment,
      isRunning,
      exited,
      finished,
      unref: () => child.unref(),
    };
  } catch (error) {
    enrolment.over();
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

/**
 * Elsewhere than on Windows `cross-spawn` hands everything through unchanged, and loading it costs more than a start.
 * Node's own is not imported: at the top it would be paid for by those who only talk HTTP, by `import()` once per server.
 */
async function loadSpawn(): Promise<Spawn> {
  if (process.platform === "win32") return (await import("cross-spawn")).default.spawn;
  return process.getBuiltinModule("node:child_process").spawn;
}
