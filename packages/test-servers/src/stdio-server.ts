/** The stdio programs, as entries of a settings file: what each does is said in the first line of its file. */

import { fileURLToPath } from "node:url";

export type StdioProgram =
  | "well-behaved"
  | "counted"
  | "catalog"
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
  | "odd-parameters";

export interface StdioEntry {
  readonly command: string;
  readonly args: readonly string[];
}

export function stdioServer(program: StdioProgram, ...args: readonly string[]): StdioEntry {
  // Written so that it is found from `src` as well as from `dist`.
  const file = fileURLToPath(new URL(`../src/programs/${program}.mjs`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}
