/** A home, a workspace and system files in one temporary folder, loaded as the host would. */

import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { ConfiguredServer, Problem, Settings } from "../../src/settings/define/definition.ts";
import { mergeSettings, readSources } from "../../src/settings/read/load.ts";
import { type Environment, type LocateOptions, type Locations, locate } from "../../src/settings/read/paths.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface World extends AsyncDisposable {
  readonly folder: TemporaryFolder;
  /** Real paths. */
  readonly home: string;
  readonly root: string;
  readonly userFile: string;
  readonly workspaceFile: string;
  readonly systemFile: string;
  readonly defaultsFile: string;
  writeUser(content: string | object): Promise<string>;
  writeWorkspace(content: string | object): Promise<string>;
  writeSystem(content: string | object): Promise<string>;
  writeDefaults(content: string | object): Promise<string>;
  environment(env?: Env): Environment;
  locate(options?: Partial<LocateOptions>): Promise<Locations>;
  load(options?: { readonly trusted?: boolean; readonly env?: Env }): Promise<Settings>;
}

export async function createWorld(): Promise<World> {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await folder.write("home/.keep", "");
  await folder.write("workspace/.gemini/.keep", "");
  const files = {
    userFile: at("home/.gemini/settings.json"),
    workspaceFile: at("workspace/.gemini/settings.json"),
    systemFile: at("system/settings.json"),
    defaultsFile: at("system/system-defaults.json"),
  };
  const environment = (env: Env = {}): Environment => ({
    env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: files.systemFile, ...env },
    home: at("home"),
    cwd: at("workspace"),
    platform: process.platform,
  });
  return {
    folder,
    home: at("home"),
    root: at("workspace"),
    ...files,
    writeUser: (content) => folder.write("home/.gemini/settings.json", content),
    writeWorkspace: (content) => folder.write("workspace/.gemini/settings.json", content),
    writeSystem: (content) => folder.write("system/settings.json", content),
    writeDefaults: (content) => folder.write("system/system-defaults.json", content),
    environment,
    locate: (options = {}) => locate({ environment: environment(), ...options }),
    async load({ trusted = true, env = {} } = {}) {
      const locations = await locate({ environment: environment(env) });
      return mergeSettings(await readSources(locations), { locations, environment: environment(env), trusted });
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export function serverOf(settings: Settings, name: string): ConfiguredServer {
  const server = settings.servers.find((candidate) => candidate.name === name);
  if (server === undefined)
    throw new Error(`no server "${name}" among ${settings.servers.map((other) => other.name).join()}`);
  return server;
}

/** What a person reads of the problems: severity, place, sentence. */
export function said(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ severity, origin, message }) => `${severity} ${origin?.line}:${origin?.column} ${message}`);
}
