/** Starts a server's process in its own process group, with exactly the given environment. */

import type { ChildProcessWithoutNullStreams, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync, readFileSync } from "node:fs";
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
      stdio: descriptorsFor(target),
    });
    giveInputs(child, target);
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

/** The three pipes, then a pipe for each input. Descriptors that the process would inherit are replaced by /dev/null. */
function descriptorsFor({ inputs = [] }: StdioTarget): SpawnOptions["stdio"] {
  const pipes = Array.from({ length: 3 + inputs.length }, () => "pipe" as const);
  const inherited = inputs.length === 0 ? [] : inheritedDescriptors().filter((fd) => fd >= pipes.length);
  if (inherited.length > 0) noFile ??= openSync("/dev/null", "r");
  const others: SpawnOptions["stdio"] = Array.from({
    length: Math.max(0, ...inherited.map((fd) => fd + 1 - pipes.length)),
  });
  for (const fd of inherited) others[fd - pipes.length] = noFile;
  return [...pipes, ...others.map((other) => other ?? ("ignore" as const))];
}

/** One descriptor of /dev/null for all processes. */
let noFile: number | undefined;

function giveInputs(child: ChildProcessWithoutNullStreams, { inputs = [] }: StdioTarget): void {
  for (const [index, bytes] of inputs.entries()) {
    const pipe = child.stdio[3 + index] as Writable | null | undefined;
    // A process that ends before it has read its inputs explains itself by its exit.
    pipe?.on("error", () => {});
    pipe?.end(bytes);
  }
}

/** The descriptors above 2 that this process would pass on: those that it has got from its own parent. */
function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fdinfo")
      .map(Number)
      .filter((fd) => fd > 2 && isPassedOn(fd));
  } catch {
    // Only Linux has this folder, and only Linux programs get inputs.
    return [];
  }
}

/** Whether a descriptor lacks `O_CLOEXEC`. */
function isPassedOn(fd: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & 0o2000000) === 0;
  } catch {
    // The descriptor by which the folder was read is closed by now.
    return false;
  }
}

function exitOf(child: ChildProcessWithoutNullStreams): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.on("error", (error) => resolve({ code: null, signal: null, error }));
  });
}

type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcessWithoutNullStreams;

/** On Windows, `cross-spawn` is needed to start scripts such as `npx.cmd`. */
async function loadSpawn(): Promise<Spawn> {
  if (process.platform === "win32") return (await import("cross-spawn")).default.spawn as Spawn;
  return process.getBuiltinModule("node:child_process").spawn as Spawn;
}
