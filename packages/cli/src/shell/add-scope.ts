/** Chooses the scope in suggested `mcp add` commands. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/** Returns "" in a project, else `-s user `: without it, `mcp add` would write into the current, untrusted folder. */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
