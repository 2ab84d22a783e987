/** Chooses the scope in suggested `mcp add` commands. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/**
 * Returns an empty text in a project. Elsewhere returns `-s user `, because `mcp add` would otherwise write the entry
 * into the current folder, which is not trusted.
 */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
