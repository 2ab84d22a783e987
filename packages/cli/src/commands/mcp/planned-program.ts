/** The program of a server as it would start, and where its sandbox is made. */

import { planLaunch, type SandboxContext, settingsFolders } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import type { ServerDefinition } from "@fairlead/core/settings";
import { type Configuration, programPlace } from "@fairlead/core/trust";

export type LaunchedProgram = {
  readonly target: Awaited<ReturnType<typeof planLaunch>>["target"];
  readonly file: string;
};

/** @throws HostError `usage` if the server starts no program, `command_not_found` if there is no such program */
export async function plannedProgram(
  { name, resolved }: ServerDefinition,
  configuration: Configuration,
): Promise<readonly [LaunchedProgram, SandboxContext]> {
  const { environment, locations } = configuration;
  if (resolved?.kind !== "stdio") throw withoutSandbox(name);
  const boxContext = programPlace({ ...configuration, environment });
  const { target, file } = await planLaunch(name, resolved, boxContext);
  if (file === undefined)
    throw new HostError("command_not_found", `"${name}" has no program: "${resolved.command}" is not in its PATH`, {
      serverName: name,
      next: `fairlead mcp test ${toShellWord(name)}`,
    });
  return [
    { target, file },
    { ...boxContext, state: locations.state, settingsFolders: settingsFolders(locations) },
  ];
}

export function withoutSandbox(name: string): HostError {
  return new HostError("usage", `"${name}" has no sandbox`, {
    serverName: name,
    next: `Set "sandbox": "on" in fairlead.servers.${name} of the settings.`,
  });
}
