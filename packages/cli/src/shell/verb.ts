/** The interface of a command. A file in `commands/` exports one command as `verb`, or several by name. */

import type { Readable, Writable } from "node:stream";
import type { Clock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { closest } from "@fairlead/core/plain-text";
import type { OwnTelemetry } from "@fairlead/core/telemetry";
import type { IdeTrust } from "@fairlead/core/trust";
import type { Command } from "commander";
import type { Output } from "../output/output.ts";

/** One command: its arguments and options, its help text, and the function that runs it. */
export interface Verb {
  /** Whether the command runs until it is stopped, so that its requests are not parts of one trace. Default: it does not. */
  isLasting?(io: Io): boolean;
  /** Declares arguments and options. The caller adds the global options. */
  define?(command: Command): void;
  /** The text that `--help` prints after the options. */
  readonly help?: string;
  run(context: Context): Promise<void>;
  /**
   * Separates the words for Fairlead from the words for the program that Fairlead starts. Absent if all words are for
   * Fairlead.
   */
  split?(words: readonly string[]): Words;
  /** The next step for words with an option that the command does not have. Without it: the command's help. */
  nextForUnknownOption?(words: readonly string[], command: Command): string;
}

/** The words of a command line, split by who parses them. */
export interface Words {
  readonly ours: readonly string[];
  /** The words for the started program. Fairlead passes them on without parsing them. */
  readonly rest: readonly string[];
}

/** The values of the global options. */
export interface Globals {
  /** `-C DIR`: the workspace root. */
  readonly root?: string;
  /** `--settings FILE`: the file that replaces the user settings. */
  readonly settings?: string;
  readonly workspace: boolean;
  readonly trustWorkspace: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: string | boolean;
  /** `--record DIR`: the folder, as an absolute path. */
  readonly record?: string;
}

/** Everything that a command gets when it runs. `operands` are its arguments without options. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly globals: Globals;
  /** The command, whose options are read with `command.opts<Options>()`. */
  readonly command: Command;
  readonly operands: readonly string[];
  readonly rest: readonly string[];
  readonly runWords: RunWords;
  /** Where spans go. Absent if the environment asks for none. */
  readonly telemetry?: OwnTelemetry | undefined;
  /** The IDE in whose terminal the command runs, if any. It is asked when the settings are loaded. */
  readonly ide: IdeTrust;
}

/** Runs another Fairlead command line. Throws the error of that command. */
export type RunWords = (words: readonly string[], io: Io, out: Output) => Promise<void>;

/** Creates a usage error whose next step is the command's `--help`. */
export function usageError(message: string, { command }: Pick<Context, "command">): HostError {
  return new HostError("usage", message, { next: `${command.name()} --help` });
}

// Turns the global options back into words, to run another command with the same options.

/** Returns the global options that decide which settings are read and what is recorded, as words of a command line. */
export function globalWords({ root, settings, workspace, trustWorkspace, record }: Globals): readonly string[] {
  return [
    ...(root === undefined ? [] : ["-C", root]),
    ...(settings === undefined ? [] : ["--settings", settings]),
    ...(workspace ? [] : ["--no-workspace"]),
    ...(trustWorkspace ? ["--trust-workspace"] : []),
    ...(record === undefined ? [] : ["--record", record]),
  ];
}

// Suggests a similar name for a mistyped one, as the end of an error message.

/** Returns `; did you mean "NAME"?`, or "" if no known name is similar. */
export function nameHint(word: string, names: Iterable<string>): string {
  const near = closest(word, names);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

// The process's streams, environment and signals, passed as a parameter so that tests can use their own.

/** What a command may use of the process. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** How this program was started: the path of Node and the path of the main script. The single executable has none. */
  readonly program?: { readonly node: string; readonly file?: string };
  /** Aborts on Ctrl-C and other termination signals. A second signal ends the process at once. */
  readonly signal: AbortSignal;
  /** Passes Ctrl-C to `onInterrupt` instead of aborting `signal`. Returns the function that undoes this. */
  readonly takeInterrupts?: (onInterrupt: () => void) => () => void;
  /** Passes SIGHUP to `reload` instead of aborting `signal`. Returns the function that undoes this. */
  readonly onHangup?: (reload: () => void) => () => void;
  /** Measures how long the IDE may take to answer. Default: the system's clock. */
  readonly clock?: Clock;
}
