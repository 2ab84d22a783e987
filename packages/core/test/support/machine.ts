/** A small machine in a temporary folder: a home, a workspace that is not trusted, system settings. */

import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { Admission } from "../../src/trust/admit.ts";
import { approve } from "../../src/trust/approvals.ts";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "../../src/trust/configuration.ts";
import { setFolderTrust } from "../../src/trust/trusted-folders.ts";

export const userFile = "home/.gemini/settings.json";
export const rulesFile = "home/.gemini/trustedFolders.json";
export const workspaceFile = "work/.gemini/settings.json";

export interface Machine extends TemporaryFolder {
  readonly root: string;
  readonly state: string;
  load(options?: Partial<ConfigurationOptions>, env?: Readonly<Record<string, string>>): Promise<Configuration>;
}

export async function machine(files: Readonly<Record<string, string | object>> = {}): Promise<Machine> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(join(folder.path, "work/.gemini"), { recursive: true });
  await mkdir(home);
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
  const root = await realpath(join(folder.path, "work"));
  const system = { GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "etc/settings.json") };
  return {
    ...folder,
    root,
    state: join(home, ".fairlead"),
    load: (options = {}, env = {}) =>
      loadConfiguration({
        environment: { env: { ...system, ...env }, home, cwd: root, platform: process.platform },
        ...options,
      }),
  };
}

/** One whose workspace has these settings and is trusted. */
export async function trustedMachine(settings: object): Promise<Machine> {
  const here = await machine({ [workspaceFile]: settings });
  await setFolderTrust(join(here.path, rulesFile), here.root, "TRUST_FOLDER");
  return here;
}

/** What `fairlead trust add` does once the person has said yes. */
export async function approveAll(
  here: Machine,
  names?: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<void> {
  const { servers } = await here.load({}, env);
  const chosen = servers.flatMap(({ server: { name, definition } }) =>
    definition !== undefined && (names?.includes(name) ?? true) ? definition : [],
  );
  await approve(here.state, here.root, chosen);
}

export function admissionOf({ servers }: Configuration, name: string): Admission | undefined {
  return servers.find(({ server }) => server.name === name)?.admission;
}

/** The configuration without what the workspace's own entries and files are listed as: what is left is what they did. */
export function effectOf({ settings, servers, problems, ...rest }: Configuration): object {
  const isOurs = ({ scope }: { scope: string }) => scope !== "workspace";
  const isNotAbout = ({ origin }: { origin?: { scope: string } }) => origin?.scope !== "workspace";
  return {
    ...rest,
    settings: {
      ...settings,
      files: settings.files.filter(isOurs),
      servers: settings.servers.filter(isOurs),
      problems: settings.problems.filter(isNotAbout),
    },
    servers: servers.filter(({ server }) => isOurs(server)),
    problems: problems.filter(isNotAbout),
  };
}
