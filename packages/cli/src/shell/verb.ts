/** What a command is: a file in `commands/` exports one of these as `verb`. */

import type { Command } from "commander";
import type { Output } from "../output/output.ts";
import type { Io } from "./io.ts";

export interface Verb {
  /** Declares operands and options; the global ones are there already. */
  define(command: Command): void;
  run(context: Context): Promise<void>;
  /** For a command that is given another program's words: which are whose. Without it, all are ours. */
  split?(words: readonly string[]): Words;
}

export interface Words {
  readonly ours: readonly string[];
  /** Words that are not ours to read. */
  readonly rest: readonly string[];
}

export interface Globals {
  /** `-C DIR`: the workspace root. */
  readonly root?: string;
  /** `--settings FILE`: replaces the user file. */
  readonly settings?: string;
  /** `--no-workspace` makes it false. */
  readonly workspace: boolean;
  readonly trustWorkspace: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: string | boolean;
}

export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly globals: Globals;
  /** For typed options: `command.opts<Options>()`. */
  readonly command: Command;
  readonly operands: readonly string[];
  readonly rest: readonly string[];
  readonly runWords: RunWords;
}

/** Runs a command line of ours, and throws what that throws. */
export type RunWords = (words: readonly string[], io: Io, out: Output) => Promise<void>;
