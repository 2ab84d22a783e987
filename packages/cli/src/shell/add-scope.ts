/** The scope that suggested `mcp add` commands name. */

import type { Locations } from "@fairlead/core/settings/read/paths";

/** `-s user `, or nothing in a project: outside a project, the entry would go to a folder that is not trusted. */
export function addScope({ rootFrom, files }: Pick<Locations, "rootFrom" | "files">): "-s user " | "" {
  return rootFrom === "cwd" || files.workspace === undefined ? "-s user " : "";
}
