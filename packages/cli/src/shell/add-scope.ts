/** Chooses the scope in suggested `mcp add` commands. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/**
 * Returns "" in a project: a folder from `-C`, with `.gemini`, or in a git repository. Elsewhere returns `-s user `, so
 * that `mcp add` writes to the user settings.
 */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
