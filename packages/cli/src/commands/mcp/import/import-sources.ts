/** Which files `mcp import` reads: the one that was given, or those at their usual places. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { detectProgram } from "@fairlead/core/settings/import/detect";
import { projectFolder, usualPlaces } from "@fairlead/core/settings/import/places";
import { type ImportSource, type Program, programNames } from "@fairlead/core/settings/import/program";
import type { Configuration } from "@fairlead/core/trust/configuration";

interface Wanted {
  readonly from?: string;
  readonly format?: Program;
  /** Whether the files of the workspace count. */
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
    throw new HostError("usage", `there is no file ${written}`, { next: "Check the path after --from." });
  });
  // The name says which program it is, wherever a link points.
  const program = format ?? (await detectProgram(written)) ?? (await detectProgram(file));
  if (program === undefined)
    throw new HostError("usage", `${file} does not look like a file of ${programNames.join(", ")}`, {
      next: `fairlead mcp import --from ${from} --format ${programNames[0]}`,
    });
  const folder = projectFolder(file, environment);
  return [{ program, file, ...(folder === undefined ? {} : { folder }) }];
}
