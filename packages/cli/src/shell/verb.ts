/** The interface of a command. A file in `commands/` exports one command as `verb`, or several by name. */

import { HostError } from "@fairlead/core/errors";
import type { IdeTrust } from "@fairlead/core/ide/ide-trust";
import type { Command } from "commander";
import type { Output } from "../output/output.ts";
import type { Io } from "./io.ts";

/** One command: its arguments and options, its help text, and the function that runs it. */
export interface Verb {
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
  /** The IDE in whose terminal the command runs, if any. It is asked when the settings are loaded. */
  readonly ide: IdeTrust;
}

/** Runs another Fairlead command line. Throws the error of that command. */
export type RunWords = (words: readonly string[], io: Io, out: Output) => Promise<void>;

/** Creates a usage error whose next step is the command's `--help`. */
export function usageError(message: string, { command }: Pick<Context, "command">): HostError {
  return new HostError("usage", message, { next: `${command.name()} --help` });
}
