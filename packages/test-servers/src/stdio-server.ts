/** The stdio test programs as entries of a settings file. The first line of each program says what it does. */

import { fileURLToPath } from "node:url";
import { type StdioEntry, sharedServer } from "./shared-host.ts";

export type { StdioEntry } from "./shared-host.ts";

/** The folder of each program below `src/programs`. */
const folders = {
  conformance: ".",
  mortal: ".",
  "well-behaved": ".",
  asks: "calls",
  counted: "calls",
  evaluator: "calls",
  "large-result": "calls",
  "odd-parameters": "calls",
  pays: "calls",
  results: "calls",
  tasks: "calls",
  traced: "calls",
  watched: "calls",
  workshop: "calls",
  catalog: "catalogs",
  contender: "catalogs",
  "echo-catalog": "catalogs",
  growing: "catalogs",
  library: "catalogs",
  skills: "catalogs",
  nothing: "catalogs",
  "paged-catalog": "catalogs",
  views: "catalogs",
  "attack-view": "misbehaving",
  cut: "misbehaving",
  "endless-pages": "misbehaving",
  exits: "misbehaving",
  family: "misbehaving",
  flood: "misbehaving",
  garbage: "misbehaving",
  hostile: "misbehaving",
  "hostile-text": "misbehaving",
  "huge-catalog": "misbehaving",
  "never-ends": "misbehaving",
  noisy: "misbehaving",
  "one-bad-tool": "misbehaving",
  refuses: "misbehaving",
  restless: "misbehaving",
  silent: "misbehaving",
  "slow-start": "misbehaving",
  "stderr-flood": "misbehaving",
  stubborn: "misbehaving",
} as const;

export type StdioProgram = keyof typeof folders;

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
  const file = fileURLToPath(new URL(`../src/programs/${folders[program]}/${program}.mjs`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}
