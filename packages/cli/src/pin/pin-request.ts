/** What is to be pinned, and what finding its version needs. */

import type { Download } from "../output/servers/server-notes.ts";
import type { RunProgram } from "./run-program.ts";

export interface PinRequest {
  readonly server: string;
  readonly download: Download;
  /** Words before the package's name, expanded: options of the launcher. */
  readonly options: readonly string[];
  /** An option names the package, not the word that is run. */
  readonly isOption: boolean;
  /** Variables and home that the launcher would see. */
  readonly env: ReadonlyMap<string, string>;
  readonly home: string;
  readonly run: RunProgram;
}

export interface ExactName {
  /** In the place of the name as written. */
  readonly name: string;
  /** Why this one, where that needs saying. */
  readonly note?: string;
}

/** Those of the launcher's options that say where to look, for the program that looks. They must mean nothing to a shell. */
export function passedOn(options: readonly string[], names: readonly string[]): readonly string[] {
  return options.flatMap((word, at) => {
    if (!/^[\w.:/=@-]+$/.test(word)) return [];
    const isValue = names.includes(options[at - 1] ?? "");
    return isValue || names.includes(word) || names.some((name) => word.startsWith(`${name}=`)) ? [word] : [];
  });
}
