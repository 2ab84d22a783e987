/**
 * Reads secrets that a program prints, such as that of a password manager: `${command:op read op://vault/item/field}`.
 * The program runs on this machine without a shell, also if the server runs in a sandbox.
 */

import { spawn } from "node:child_process";
import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { explain } from "../files/system-error.ts";
import { commandPrefix, commandWords } from "../settings/define/expand.ts";
import { findOwnProgram, type OwnProgram, type ProgramPlace } from "../trust/programs.ts";
import { createRedactor } from "./redact.ts";

/** Returns a stored secret, or what a command prints. */
export type ReadSecret = (name: string, signal?: AbortSignal) => Promise<string | undefined>;

/** How long a command may run, in milliseconds. */
const longestRun = 30_000;
/** How much a command may print: as much as a stored secret may have. */
const maxValueBytes = 64 * 1024;
const maxStderrBytes = 4096;
const maxStderrLine = 200;

/**
 * Adds commands to a function that reads stored secrets. Each command runs once, so use the result for one connection
 * only: the next one asks the password manager again.
 */
export function withCommands(stored: ReadSecret, surroundings: ProgramPlace, clock: Clock = systemClock): ReadSecret {
  const values = new Map<string, Promise<string>>();
  return async (name, signal) => {
    if (!name.startsWith(commandPrefix)) return stored(name);
    const value = values.get(name) ?? printedBy(name.slice(commandPrefix.length), surroundings, clock, signal);
    values.set(name, value);
    // What failed is tried again by the next request for the same connection, such as a second sign-in.
    value.catch(() => values.delete(name));
    return value;
  };
}

async function printedBy(
  line: string,
  surroundings: ProgramPlace,
  clock: Clock,
  signal?: AbortSignal,
): Promise<string> {
  const split = commandWords(line);
  if ("refused" in split) throw new HostError("settings_invalid", split.refused);
  const { home } = surroundings.environment;
  const [name = "", ...args] = split.words.map((word) => expandHome(word, home));
  const program = await findSecretProgram(name, surroundings);
  if (program === undefined)
    throw new HostError("variable_unset", `the program "${name}" was not found`, {
      next: "install it, or correct the command in your settings",
    });
  const outcome = await run(program, args, { home, clock, signal });
  const next = `run it in your shell: ${line.trim()}`;
  if (outcome.kind !== "printed")
    throw new HostError(
      outcome.kind === "cancelled" ? "cancelled" : "variable_unset",
      `${name} ${outcome.reason}`,
      outcome.kind === "cancelled" ? {} : { next },
    );
  const text = outcome.bytes.toString("utf8");
  if (text.includes("\0") || !Buffer.from(text).equals(outcome.bytes))
    throw new HostError("variable_unset", `${name} printed something that is not text`, { next });
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw new HostError("variable_unset", `${name} printed nothing`, { next });
  return value;
}

function expandHome(word: string, home: string): string {
  return /^~(?:$|[/\\])/.test(word) ? home + word.slice(1) : word;
}

/**
 * Finds the program of a command, never in a workspace that is not trusted. On Windows, the system finds it when it
 * starts.
 */
export async function findSecretProgram(name: string, surroundings: ProgramPlace): Promise<OwnProgram | undefined> {
  const { env, home, platform } = surroundings.environment;
  return platform === "win32" ? { file: name, env } : findOwnProgram(expandHome(name, home), surroundings);
}

type Outcome =
  | { readonly kind: "printed"; readonly bytes: Buffer }
  /** `reason` follows the name of the program. */
  | { readonly kind: "failed" | "cancelled"; readonly reason: string };

function run(
  { file, env }: OwnProgram,
  args: readonly string[],
  { home, clock, signal }: { readonly home: string; readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<Outcome> {
  const isPosix = process.platform !== "win32";
  return new Promise((resolve) => {
    // In a session of its own, the program cannot ask on the terminal, which belongs to the app.
    const child = spawn(file, args, {
      cwd: home,
      env,
      detached: isPosix,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const printed: Buffer[] = [];
    let stderr = "";
    let size = 0;

    const finish = (outcome: Outcome): void => {
      stopTimer();
      signal?.removeEventListener("abort", abort);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(outcome);
    };
    const end = (outcome: Outcome): void => {
      kill(child.pid, isPosix);
      finish(outcome);
    };
    const abort = (): void => end({ kind: "cancelled", reason: "was stopped" });
    const stopTimer = clock.after(longestRun, () =>
      end({ kind: "failed", reason: `timed out: it printed no value for ${longestRun / 1000} s` }),
    );
    signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      printed.push(chunk);
      size += chunk.length;
      if (size > maxValueBytes) end({ kind: "failed", reason: `printed more than ${maxValueBytes} bytes` });
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(-maxStderrBytes);
    });
    child.on("error", (error) => finish({ kind: "failed", reason: `cannot be started: ${explain(error)}` }));
    child.on("close", (code, killedBy) => {
      if (code === 0) return finish({ kind: "printed", bytes: Buffer.concat(printed) });
      const how = code === null ? `was ended by ${killedBy ?? "a signal"}` : `exited with code ${code}`;
      const last = lastLine(stderr);
      finish({ kind: "failed", reason: last === "" ? how : `${how} (stderr: ${last})` });
    });
    if (signal?.aborted === true) abort();
  });
}

function lastLine(stderr: string): string {
  const line = stderr.split(/[\r\n]+/).findLast((text) => text.trim() !== "") ?? "";
  return createRedactor([])(line.trim()).slice(0, maxStderrLine);
}

/** Ends the program with everything that it has started. */
function kill(pid: number | undefined, isGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(isGroup ? -pid : pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
