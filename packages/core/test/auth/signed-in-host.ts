/** A host with one server that wants people to sign in, for one test. */

import type { TemporaryFolder } from "@fairlead/test-servers";
import type { ServerState } from "../../src/events.ts";
import { createHost, type Host, type HostOptions } from "../../src/host.ts";

export interface HostWith {
  readonly entry?: object;
  /** Other servers, by name. */
  readonly beside?: object;
  /** Under `fairlead`. */
  readonly own?: object;
  readonly env?: Readonly<Record<string, string>>;
}

export async function hostFor(
  folder: TemporaryFolder,
  httpUrl: string,
  { entry = {}, beside = {}, own = {}, env = {} }: HostWith = {},
  options: HostOptions = {},
): Promise<Host> {
  await folder.write("home/.gemini/settings.json", {
    mcpServers: { docs: { httpUrl, ...entry }, ...beside },
    fairlead: own,
  });
  await folder.write("work/.gemini/settings.json", {});
  const environment = {
    env: {
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder.path}/none.json`,
      GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${folder.path}/none.json`,
      FAIRLEAD_SECRET_STORE: "file",
      ...env,
    },
    home: `${folder.path}/home`,
    cwd: `${folder.path}/work`,
    platform: process.platform,
  };
  return createHost({ environment, recover: false, ...options });
}

/** Leaving aside since when, and what the server said. */
export function stateOf(host: Host): object | undefined {
  const state = host.states().find(({ name }) => name === "docs");
  if (state === undefined) return undefined;
  const { since: _since, ...rest }: ServerState & { evidence?: string } = state;
  delete rest.evidence;
  return rest;
}
