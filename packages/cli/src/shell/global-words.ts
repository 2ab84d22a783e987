/** Turns the global options back into words, to run another command with the same options. */

import type { Globals } from "./verb.ts";

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
