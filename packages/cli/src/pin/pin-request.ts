/** The input and result of finding an exact version. */

import type { Download } from "../output/servers/server-notes.ts";
import type { RunProgram } from "./run-program.ts";

export interface PinRequest {
  readonly server: string;
  readonly download: Download;
  /** Options of the launcher before the package name, expanded. */
  readonly options: readonly string[];
  /** Whether an option such as `--from` names the package. */
  readonly isOption: boolean;
  /** The variables and home folder that the launcher would get. */
  readonly env: ReadonlyMap<string, string>;
  readonly home: string;
  readonly run: RunProgram;
}

export interface ExactName {
  /** Replaces the name in the entry. */
  readonly name: string;
  /** Why this version, if it needs an explanation. */
  readonly note?: string;
}

/** Returns the launcher's options with these names, for the lookup; drops words with shell characters. */
export function passedOn(options: readonly string[], names: readonly string[]): readonly string[] {
  return options.flatMap((word, at) => {
    if (!/^[\w.:/=@-]+$/.test(word)) return [];
    const isValue = names.includes(options[at - 1] ?? "");
    return isValue || names.includes(word) || names.some((name) => word.startsWith(`${name}=`)) ? [word] : [];
  });
}
