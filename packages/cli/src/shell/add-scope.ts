/** Chooses the scope in suggested `mcp add` commands. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/**
 * Returns `-s user `, or an empty text in a project. Outside a project, the entry would go to a folder that is not
 * trusted.
 */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
