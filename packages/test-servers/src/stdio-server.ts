/** The stdio test programs as entries of a settings file. The first line of each program says what it does. */

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

/**
 * Returns a stdio server. The usual ones run in one process for all tests, behind a small relay; see `shared-host.ts`.
 */
export function stdioServer(program: StdioProgram, ...args: readonly string[]): StdioEntry {
  return sharedServer(program, args) ?? programServer(program, ...args);
}

/**
 * Returns a stdio server in its own Node process, for tests of the process itself: its command line, environment or
 * exit.
 */
export function programServer(program: StdioProgram, ...args: readonly string[]): StdioEntry {
  // This path is valid from `src` and from `dist`.
  const file = fileURLToPath(new URL(`../src/programs/${program}.mjs`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}
