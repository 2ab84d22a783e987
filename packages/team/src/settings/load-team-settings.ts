/** Reads the section `fairlead.team` from the system settings of this machine. */

import { HostError } from "@fairlead/core";
import type { Environment } from "@fairlead/core/settings";
import { loadConfiguration } from "@fairlead/core/trust";
import { readTeamSettings, type TeamSettings } from "./team-settings.ts";

/** @throws HostError `settings_invalid` or `variable_unset` */
export async function loadTeamSettings(environment: Environment): Promise<TeamSettings> {
  const { settings, problems } = await loadConfiguration({ environment, workspace: false, userSettings: "{}" });
  const broken = settings.files.find(({ scope, state }) => state === "broken" && scope.startsWith("system"));
  const problem = problems.find(({ origin, severity }) => origin?.file === broken?.file && severity === "error");
  if (broken !== undefined)
    throw new HostError("settings_invalid", problem?.message ?? `${broken.file} cannot be read`, {
      next: `Correct ${broken.file}.`,
    });
  return readTeamSettings(settings.host.team, environment);
}
