/** The stdio programs, as entries of a settings file: what each does is said in the first line of its file. */

import { fileURLToPath } from "node:url";
import { type StdioEntry, sharedServer } from "./shared-host.ts";

export type { StdioEntry } from "./shared-host.ts";

export type StdioProgram =
  | "well-behaved"
  | "counted"
  | "catalog"
  | "echo-catalog"
  | "library"
  | "workshop"
  | "slow-start"
  | "silent"
  | "cut"
  | "exits"
  | "refuses"
  | "noisy"
  | "garbage"
  | "stderr-flood"
  | "flood"
  | "paged-catalog"
  | "stubborn"
  | "family"
  | "endless-pages"
  | "huge-catalog"
  | "one-bad-tool"
  | "nothing"
  | "mortal"
  | "restless"
  | "watched"
  | "never-ends"
  | "large-result"
  | "odd-parameters"
  | "results"
  | "asks"
  | "conformance"
  | "tasks";

/** A server on stdio. The usual ones run in one process for all tests, behind a small relay: see `shared-host.ts`. */
export function stdioServer(program: StdioProgram, ...args: readonly string[]): StdioEntry {
  return sharedServer(program, args) ?? programServer(program, ...args);
}

/** The same in a Node process of its own, for tests that look at the program itself: its command line, environment or death. */
export function programServer(program: StdioProgram, ...args: readonly string[]): StdioEntry {
  // Written so that it is found from `src` as well as from `dist`.
  const file = fileURLToPath(new URL(`../src/programs/${program}.mjs`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}
