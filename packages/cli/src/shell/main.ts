/** The command: finds the verb, loads it, runs it, and turns what went wrong into words and an exit code. */

import { constants, homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { exitCodeOf, HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { errorMessage } from "@fairlead/wire/text";
import { createOutput, type Output } from "../output/output.ts";
import { groupHelp, rootHelp } from "./help.ts";
import type { Io } from "./io.ts";
import { resolve } from "./resolve.ts";
import { streamFailure } from "./stream-failure.ts";

declare const FAIRLEAD_VERSION: string | undefined;

// For the bundle, which has these inside.
export { describeCommands } from "../completion/known-command.ts";
export { rootHelp } from "./help.ts";

/** Runs one command line and returns its exit code. Never exits, and throws only when a part of the program is missing. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { ours, run } = await prepare(argv);
  const has = (flag: string): boolean => ours.includes(flag) && !ours.slice(0, ours.indexOf(flag)).includes("--");
  const out = createOutput(io, { quiet: has("--quiet") || has("-q") });
  try {
    await run(io, out);
    return 0;
  } catch (error) {
    return report(toHostError(error, io.signal), out, has("--json"));
  }
}

interface Task {
  /** The words that are ours to read: `--json` behind another program's name is not. */
  readonly ours: readonly string[];
  readonly run: (io: Io, out: Output) => void | Promise<void>;
}

async function prepare(argv: readonly string[]): Promise<Task> {
  // For scripts alone, so it is not in the table of commands, and its words are not options of ours.
  if (argv[0] === "__complete") {
    const { answerTab } = await import("../completion/answer-tab.ts");
    return { ours: [], run: (io, out) => answerTab(argv.slice(1), io, out) };
  }
  const found = resolve(argv);
  switch (found.kind) {
    case "version":
      return { ours: argv, run: (io) => void io.stdout.write(`${version()}\n`) };
    case "help": {
      const text = found.group === undefined ? rootHelp() : groupHelp(found.group);
      return { ours: argv, run: (io) => void io.stdout.write(text) };
    }
    case "unknown": {
      const error = new HostError("usage", found.message, { next: found.next });
      return { ours: argv, run: () => Promise.reject(error) };
    }
    case "verb": {
      const [{ verb }, { runVerb }] = await Promise.all([found.load(), import("./run-verb.ts")]);
      const words = verb.split?.(found.argv) ?? { ours: found.argv, rest: [] };
      const { words: name, summary } = found;
      return { ours: words.ours, run: (io, out) => runVerb({ verb, name, summary, words, io, out, runWords }) };
    }
  }
}

export async function runWords(words: readonly string[], io: Io, out: Output): Promise<void> {
  const { run } = await prepare(words);
  await run(io, out);
}

function report(error: HostError, out: Output, json: boolean): number {
  const { code, message, next } = error;
  // A command that printed its own document has said it there already.
  if (json && !out.printedJson()) out.json({ error: { code, message, ...(next === undefined ? {} : { next }) } });
  out.exactly(safe`fairlead: ${marked(message)}`);
  if (next !== undefined) out.warn(safe`  next: ${toSafeLine(next)}`);
  return exitCodeOf(code);
}

/** A message may quote lines of a server, but none of them can pass for a line of ours. */
function marked(message: string): SafeText {
  return joinSafe(toSafeText(message).split("\n").map(toSafeLine), safe`\n  | `);
}

function toHostError(error: unknown, signal: AbortSignal): HostError {
  if (error instanceof HostError) return error;
  if (signal.aborted) return new HostError("cancelled", "cancelled");
  const message = errorMessage(error);
  return new HostError("internal", `this should not have happened: ${message}`, { cause: error });
}

function version(): string {
  return typeof FAIRLEAD_VERSION === "string" ? FAIRLEAD_VERSION : "0.0.0-source";
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const next = "Change to a folder that exists, then try again.";
    throw new HostError("usage", "the current folder is not there any more", { next, cause });
  }
}

/** Where HOME is empty or relative, the person's own folder is the one that the system has noted for them. */
function homeFolder(): string {
  const home = homedir();
  if (isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch {
    // Nothing is noted for this user: core refuses what HOME says, in words.
    return home;
  }
}

/** The process's own command line; called by the bundle's entry. */
export async function run(): Promise<void> {
  const interrupt = new AbortController();
  let interrupted: number | undefined;
  let onInterrupt: (() => void) | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)
    process.on(signal, () => {
      if (signal === "SIGINT" && onInterrupt !== undefined) return onInterrupt();
      const code = 128 + constants.signals[signal];
      // Who says it twice does not want to wait for the servers to end.
      if (interrupted !== undefined) process.exit(code);
      interrupted = code;
      interrupt.abort();
    });
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // With the terminal gone there is nobody to tell, but servers to end.
      if (interrupted !== undefined) return;
      const failure = streamFailure(error, stream.isTTY);
      if (failure === "enough") process.exit(0);
      if (failure === "hangup") {
        interrupted = 128 + constants.signals.SIGHUP;
        return interrupt.abort();
      }
      if (stream === process.stdout)
        process.stderr.write(safe`fairlead: cannot write to stdout: ${toSafeLine(error.message)}\n`);
      process.exit(1);
    });
  // What Node would print is not made safe to show. The modes of a terminal are put back on the way out.
  process.on("uncaughtException", (error: unknown) => {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(safe`fairlead: ${marked(`this should not have happened: ${words}`)}\n`);
    process.exit(exitCodeOf("internal"));
  });
  const code = await main(process.argv.slice(2), {
    // Opened only by those who read it: a stream for stdin is not free.
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
    signal: interrupt.signal,
    takeInterrupts(taker) {
      onInterrupt = taker;
      return () => {
        onInterrupt = undefined;
      };
    },
  });
  process.exitCode = code === exitCodeOf("cancelled") ? (interrupted ?? code) : code;
}
