/** Chooses the scope in suggested `mcp add` commands. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/**
 * Returns "" in a project. Elsewhere returns `-s user `: the current folder is not trusted, so nothing is written
 * there.
 */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
