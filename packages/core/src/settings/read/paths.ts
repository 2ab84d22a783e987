/** Finds the workspace root, the settings files, the `.env` files and Fairlead's state folder. */

import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, posix, resolve, win32 } from "node:path";
import { HostError } from "../../errors.ts";
import { isInside, realPathOf } from "../../files/real-path.ts";
import type { Scope } from "../define/definition.ts";

/** The environment of the process. Callers pass it in, so that this package never reads `process.env`. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Where Fairlead looks for settings. The user's options replace the default places. */
export interface LocateOptions {
  readonly environment: Environment;
  /** The workspace root. If absent, Fairlead searches for it. */
  readonly root?: string;
  /** The file to read instead of the user's settings file. */
  readonly settingsFile?: string;
  /** The user's settings as JSON. If present, Fairlead does not read the user's settings file. */
  readonly userSettings?: string;
  /** If `false`, Fairlead does not read the workspace's files. */
  readonly workspace?: boolean;
}

/** The files and folders that Fairlead reads for one workspace. */
export interface Locations {
  /** The real path of the workspace root. */
  readonly root: string;
  readonly rootFrom: "option" | "gemini-folder" | "git" | "cwd";
  readonly files: Readonly<Record<Scope, string | undefined>>;
  readonly trustedFolders: string;
  /** Folders that contain policy files. */
  readonly policies: {
    readonly administrator: string;
    readonly user: string;
    readonly workspace: string | undefined;
  };
  /** Fairlead's state folder, `FAIRLEAD_HOME`. */
  readonly state: string;
  /** The `.env` files, strongest first. */
  readonly envFiles: { readonly user: readonly string[]; readonly workspace: readonly string[] };
}

/**
 * Finds all files and folders for one workspace.
 *
 * @throws HostError `usage` for a wrong option or a missing current folder, `settings_invalid` for a wrong environment
 * variable
 */
export async function locate(options: LocateOptions): Promise<Locations> {
  const { environment } = options;
  // If HOME were empty or relative, the current folder would decide which folder is the home folder.
  if (!isAbsolute(environment.home))
    throw new HostError("settings_invalid", `the home folder is "${environment.home}", which is not an absolute path`, {
      next: "Set HOME to an absolute path.",
    });
  const home = await realPathOf(environment.home);
  const { root, rootFrom } = await findRoot(options, home);
  const gemini = join(environment.home, ".gemini");
  // If the root is the home folder, there is no workspace: `.gemini` in the home folder holds the user's settings.
  const hasWorkspace = options.workspace !== false && root !== home;
  return {
    root,
    rootFrom,
    files: {
      ...systemFiles(environment),
      user: await userFile(options, join(gemini, "settings.json")),
      workspace: hasWorkspace ? join(root, ".gemini", "settings.json") : undefined,
    },
    trustedFolders:
      absoluteVariable(environment, "GEMINI_CLI_TRUSTED_FOLDERS_PATH") ?? join(gemini, "trustedFolders.json"),
    policies: {
      administrator: await policyFolder(environment, root, home),
      user: join(gemini, "policies"),
      workspace: hasWorkspace ? join(root, ".gemini", "policies") : undefined,
    },
    state: await stateFolder(environment, root, home),
    envFiles: {
      user: [join(gemini, ".env"), join(environment.home, ".env")],
      workspace: hasWorkspace ? [join(root, ".gemini", ".env"), join(root, ".env")] : [],
    },
  };
}

async function findRoot(
  { environment, root: given }: LocateOptions,
  home: string,
): Promise<Pick<Locations, "root" | "rootFrom">> {
  const { cwd } = environment;
  if (given === "")
    throw new HostError("usage", "the path of the workspace root is empty", { next: "Write the path of a folder." });
  if (given !== undefined) {
    const root = resolve(cwd, given);
    if (!(await isFolder(root))) throw new HostError("usage", `the workspace root "${root}" is not a folder`);
    return { root: await realpath(root), rootFrom: "option" };
  }
  if (!(await isFolder(cwd))) throw new HostError("usage", `the current folder "${cwd}" does not exist any more`);
  const parents = selfAndParents(await realpath(cwd));
  for (const folder of parents)
    if (folder !== home && (await isFolder(join(folder, ".gemini"))))
      return { root: folder, rootFrom: "gemini-folder" };
  for (const folder of parents) if (await exists(join(folder, ".git"))) return { root: folder, rootFrom: "git" };
  return { root: await realpath(cwd), rootFrom: "cwd" };
}

function selfAndParents(folder: string): readonly string[] {
  const folders = [folder];
  for (let here = folder; dirname(here) !== here; here = dirname(here)) folders.push(dirname(here));
  return folders;
}

async function userFile(options: LocateOptions, usual: string): Promise<string | undefined> {
  if (options.userSettings !== undefined) return undefined;
  return options.settingsFile === undefined ? usual : givenFile(options.settingsFile, options.environment);
}

async function givenFile(file: string, { cwd }: Environment): Promise<string> {
  if (file === "")
    throw new HostError("usage", "the path of the settings file is empty", { next: "Write the path of a file." });
  const path = resolve(cwd, file);
  if (!(await exists(path)))
    throw new HostError("usage", `the settings file "${path}" does not exist`, {
      next: "Check the path after --settings.",
    });
  return path;
}

function systemFiles(environment: Environment): { readonly system: string; readonly "system-defaults": string } {
  const path = environment.platform === "win32" ? win32 : posix;
  const system =
    absoluteVariable(environment, "GEMINI_CLI_SYSTEM_SETTINGS_PATH") ?? systemSettings(environment.platform);
  const defaults = absoluteVariable(environment, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH");
  return { system, "system-defaults": defaults ?? path.join(path.dirname(system), "system-defaults.json") };
}

function systemSettings(platform: NodeJS.Platform): string {
  if (platform === "darwin") return "/Library/Application Support/GeminiCli/settings.json";
  if (platform === "win32") return "C:\\ProgramData\\gemini-cli\\settings.json";
  return "/etc/gemini-cli/settings.json";
}

/**
 * Reads a path from an environment variable. Refuses a relative path, because it could lead into an untrusted folder.
 */
function absoluteVariable({ env }: Environment, name: string): string | undefined {
  const value = env[name];
  if (value === undefined || value === "") return undefined;
  if (isAbsolute(value)) return value;
  throw new HostError("settings_invalid", `${name} is "${value}", which is not an absolute path`, {
    next: `Set ${name} to an absolute path, or unset it.`,
  });
}

async function stateFolder(environment: Environment, root: string, home: string): Promise<string> {
  const state = absoluteVariable(environment, "FAIRLEAD_HOME") ?? join(environment.home, ".fairlead");
  await refuseInWorkspace("FAIRLEAD_HOME", state, root, home);
  return state;
}

/** The administrator's policy folder. An environment variable can replace it, but a `.env` file cannot. */
async function policyFolder(environment: Environment, root: string, home: string): Promise<string> {
  const given = absoluteVariable(environment, "FAIRLEAD_SYSTEM_POLICIES_PATH");
  if (given !== undefined) await refuseInWorkspace("FAIRLEAD_SYSTEM_POLICIES_PATH", given, root, home);
  return given ?? systemPolicies(environment.platform);
}

function systemPolicies(platform: NodeJS.Platform): string {
  if (platform === "darwin") return "/Library/Application Support/Fairlead/policies";
  if (platform === "win32") return "C:\\ProgramData\\fairlead\\policies";
  return "/etc/fairlead/policies";
}

/**
 * Refuses a folder inside the workspace. Accepts any folder if the workspace contains the home folder, because then all
 * folders of the user are inside.
 */
async function refuseInWorkspace(name: string, folder: string, root: string, home: string): Promise<void> {
  if (isInside(home, root) || !isInside(await realPathOf(folder), root)) return;
  throw new HostError("settings_invalid", `${name} is "${folder}", inside the workspace "${root}"`, {
    next: `Set ${name} to a folder outside the workspace. An untrusted workspace must not contain Fairlead's own files.`,
  });
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
