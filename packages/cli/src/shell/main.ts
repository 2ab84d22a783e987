/** The entry point: finds, loads and runs a command. Turns errors into messages and exit codes. */

import { constants, homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { exitCodeOf, HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { errorMessage } from "@fairlead/wire/text";
import { createOutput, errorDocument, type Output } from "../output/output.ts";
import type { CommandTelemetry } from "./command-telemetry.ts";
import { groupHelp, rootHelp } from "./help.ts";
import { resolve } from "./resolve.ts";
import type { Io } from "./verb.ts";
import { isSingleExecutable, version } from "./version.ts";

// The bundle script uses these exports.
export { describeCommands } from "../completion/known-command.ts";
export { rootHelp } from "./help.ts";

/** The reason with which `io.signal` aborts if the program that reads stdout has ended. No message is printed then. */
const outputClosed: unique symbol = Symbol("output closed");

/**
 * Runs one command line and returns its exit code. Never exits the process. Throws only if a module of the program is
 * missing.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { ours, run } = await prepare(argv);
  const has = (flag: string): boolean => ours.includes(flag) && !ours.slice(0, ours.indexOf(flag)).includes("--");
  const out = createOutput(io, { quiet: has("--quiet") || has("-q") });
  try {
    await run(io, out);
    return 0;
  } catch (error) {
    if (io.signal.reason === outputClosed) return exitCodeOf("cancelled");
    return report(toHostError(error, io.signal), out, has("--json"));
  }
}

interface Task {
  /** The words of the command line that Fairlead itself parses, without the words for a program that it starts. */
  readonly ours: readonly string[];
  readonly run: (io: Io, out: Output, within?: CommandTelemetry) => void | Promise<void>;
}

async function prepare(argv: readonly string[]): Promise<Task> {
  // `__complete` is not in the command table, because only completion scripts call it.
  if (argv[0] === "__complete") {
    const { answerTab } = await import("../completion/answer-tab.ts");
    return { ours: [], run: (io, out) => answerTab(argv.slice(1), io, out) };
  }
  // `fairlead serve` starts the background host with the argument `__host`.
  if (argv[0] === "__host") {
    const { runHost } = await import("../gateway/run-host.ts");
    return { ours: [], run: (io) => runHost(argv.slice(1), io) };
  }
  const found = resolve(argv);
  switch (found.kind) {
    case "version":
      return {
        ours: argv,
        run: (io, out) =>
          argv.includes("--json") ? out.json({ version: version() }) : void io.stdout.write(`${version()}\n`),
      };
    case "help": {
      const text = found.group === undefined ? rootHelp() : groupHelp(found.group);
      return { ours: argv, run: (_io, out) => out.show(toSafeText(text.trimEnd())) };
    }
    case "unknown": {
      const error = new HostError("usage", found.message, { next: found.next });
      return { ours: argv, run: () => Promise.reject(error) };
    }
    case "verb": {
      const [{ verb }, { runVerb }] = await Promise.all([found.load(), import("./run-verb.ts")]);
      const words = verb.split?.(found.argv) ?? { ours: found.argv, rest: [] };
      const { words: name, summary } = found;
      return {
        ours: words.ours,
        run: (io, out, within) => runVerb({ verb, name, summary, words, io, out, runWords, within }),
      };
    }
  }
}

/**
 * Runs another Fairlead command line in this process. `within`: the telemetry of this process. @throws the error of that
 * command
 */
export async function runWords(
  words: readonly string[],
  io: Io,
  out: Output,
  within?: CommandTelemetry,
): Promise<void> {
  const { run } = await prepare(words);
  await run(io, out, within);
}

function report(error: HostError, out: Output, json: boolean): number {
  const { code, message, next } = error;
  // If the command has printed its own JSON document, the error is already in that document.
  if (json && !out.printedJson()) out.json({ error: errorDocument(error) });
  out.exactly(safe`fairlead: ${marked(message)}`);
  if (next !== undefined) out.warn(safe`  next: ${toSafeLine(next)}`);
  return exitCodeOf(code);
}

/**
 * Puts a prefix before continuation lines, so that lines quoted from a server do not look like Fairlead's own lines.
 */
function marked(message: string): SafeText {
  return joinSafe(toSafeText(message).split("\n").map(toSafeLine), safe`\n  | `);
}

function toHostError(error: unknown, signal: AbortSignal): HostError {
  if (error instanceof HostError) return error;
  if (signal.aborted) return new HostError("cancelled", "cancelled");
  const message = errorMessage(error);
  return new HostError("internal", `internal error: ${message}`, { cause: error });
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const next = "Change to a folder that exists, then try again.";
    throw new HostError("usage", "the current folder no longer exists", { next, cause });
  }
}

/** Returns the home folder. If HOME is empty or relative, takes the home folder from the system's user database. */
function homeFolder(): string {
  const home = homedir();
  if (isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch {
    // The user database may have no entry for this user. `@fairlead/core` then reports the invalid `HOME`.
    return home;
  }
}

/** Runs the command line of this process. The bundle's entry calls this function. */
export async function run(): Promise<void> {
  const interrupt = new AbortController();
  let interrupted: number | undefined;
  /** The exit code, if stdout or stderr was closed or failed. */
  let closed: number | undefined;
  let onInterrupt: (() => void) | undefined;
  let onHangup: (() => void) | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)
    process.on(signal, () => {
      if (signal === "SIGINT" && onInterrupt !== undefined) return onInterrupt();
      if (signal === "SIGHUP" && onHangup !== undefined) return onHangup();
      const code = 128 + constants.signals[signal];
      // A second signal means that the user does not want to wait until the servers have stopped.
      if (interrupted !== undefined) process.exit(code);
      interrupted = code;
      interrupt.abort();
    });
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (interrupted !== undefined || closed !== undefined) return;
      const failure = streamFailure(error, stream.isTTY);
      if (failure === "hangup") {
        interrupted = 128 + constants.signals.SIGHUP;
        return interrupt.abort();
      }
      if (failure === "failure" && stream === process.stdout)
        process.stderr.write(safe`fairlead: cannot write to stdout: ${toSafeLine(error.message)}\n`);
      closed = failure === "enough" ? 0 : 1;
      interrupt.abort(outputClosed);
    });
  // Without this handler, Node would print control characters in the error unchanged. `process.exit` runs the handlers
  // that restore the terminal.
  process.on("uncaughtException", (error: unknown) => {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(safe`fairlead: ${marked(`internal error: ${words}`)}\n`);
    process.exit(exitCodeOf("internal"));
  });
  const code = await main(process.argv.slice(2), {
    // `stdin` is a getter, because creating the stream makes the start slower.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    get home() {
      return homeFolder();
    },
    platform: process.platform,
    program: { node: process.execPath, file: isSingleExecutable() ? undefined : (process.argv[1] ?? "") },
    signal: interrupt.signal,
    takeInterrupts(taker) {
      onInterrupt = taker;
      return () => {
        onInterrupt = undefined;
      };
    },
    onHangup(reload) {
      onHangup = reload;
      return () => {
        onHangup = undefined;
      };
    },
  });
  const endCode = (): number => closed ?? (code === exitCodeOf("cancelled") ? (interrupted ?? code) : code);
  process.exitCode = endCode();
  // The exit code is set again at the end, because the last write to stdout may still fail.
  process.once("beforeExit", () => (process.exitCode = endCode()));
}

/**
 * Why a stream failed. `hangup`: the terminal was closed. `enough`: the reading program ended, as in `| head`.
 * `failure`: any other error.
 */
export type StreamFailure = "hangup" | "enough" | "failure";

/** Returns why writing to stdout or stderr failed. `isTerminal`: whether the stream is a terminal. */
export function streamFailure({ code }: NodeJS.ErrnoException, isTerminal: boolean): StreamFailure {
  if (code === "EIO" && isTerminal) return "hangup";
  return code === "EPIPE" ? "enough" : "failure";
}
