/** Finds the files that `mcp import` reads: the file given with `--from`, or the usual files of each program. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { detectProgram } from "@fairlead/core/settings/import/foreign-file";
import { projectFolder, usualPlaces } from "@fairlead/core/settings/import/places";
import { type ImportSource, type Program, programNames } from "@fairlead/core/settings/import/program";
import type { Configuration } from "@fairlead/core/trust/configuration";

interface Wanted {
  readonly from?: string;
  readonly format?: Program;
  /** Whether to read files of the workspace. */
  readonly workspace: boolean;
}

export async function findSources(
  { from, format, workspace }: Wanted,
  { environment, locations }: Pick<Configuration, "environment" | "locations">,
): Promise<readonly ImportSource[]> {
  if (from === undefined)
    return usualPlaces(environment, locations.root).filter(
      ({ program, folder }) => (format ?? program) === program && (workspace || folder === undefined),
    );
  const written = resolve(environment.cwd, from);
  const file = await realpath(written).catch(() => {
    throw new HostError("usage", `${written} does not exist`, { next: "check the path after --from" });
  });
  // A link's own name identifies the program, not the name of its target.
  const program = format ?? (await detectProgram(written)) ?? (await detectProgram(file));
  if (program === undefined)
    throw new HostError("usage", `${file} has no known format (${programNames.join(", ")})`, {
      next: `fairlead mcp import --from ${from} --format ${programNames[0]}`,
    });
  const folder = projectFolder(file, environment);
  return [{ program, file, ...(folder === undefined ? {} : { folder }) }];
}
