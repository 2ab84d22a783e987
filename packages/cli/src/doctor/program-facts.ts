/** Finds the programs of servers on the same `PATH` that the servers get when they start. */

import { readdir, realpath, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, win32 } from "node:path";
import { type LaunchContext, planLaunch } from "@fairlead/core/connect/launch";
import { HostError } from "@fairlead/core/errors";
import type { Origin, ServerDefinition, StdioTransport } from "@fairlead/core/settings/define/definition";
import { firstLine } from "@fairlead/core/trust/approved-programs";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { findProgram, programPlace, systemPath, withoutUntrusted } from "@fairlead/core/trust/programs";

interface NodeFacts {
  readonly version: string;
  readonly file: string;
  /** The path of the `node` on `PATH`, if Fairlead itself runs on a different Node. */
  readonly other?: string;
}

/** Whether and where the program of one stdio server was found. `droppedPath`: folders removed from its `PATH`. */
export interface LaunchFacts {
  readonly server: string;
  readonly origin: Origin;
  readonly command: string;
  readonly file?: string;
  /** The program in the first line of a script (`#! /usr/bin/env node`), and whether that program exists. */
  readonly interpreter?: { readonly name: string; readonly isFound: boolean };
  /** The version manager's folder with the command or interpreter, if it is not on the server's `PATH`. */
  readonly elsewhere?: Managed;
  /** The version manager's folder in which the program was found. Editors and services lack it on their `PATH`. */
  readonly managed?: Managed;
  readonly droppedPath: readonly string[];
  /** Why Fairlead refuses to start the program. */
  readonly refused?: Pick<HostError, "message" | "next" | "code">;
  /**
   * The PowerShell script with the command's name, if there is no program of that name. Windows cannot start it
   * directly.
   */
  readonly script?: string;
}

/** Node, npx and the programs of all servers. `relativePath`: relative folders on `PATH`. */
export interface ProgramFacts {
  readonly node: NodeFacts;
  readonly npx?: string;
  readonly relativePath: readonly string[];
  readonly launches: readonly LaunchFacts[];
}

/** Reads facts about the servers' programs. `servers`: the servers that may start. */
export async function readProgramFacts(
  configuration: Pick<Configuration, "environment" | "locations" | "trust">,
  servers: readonly ServerDefinition[],
): Promise<ProgramFacts> {
  const launchContext = programPlace(configuration);
  const programs = servers.flatMap((definition) =>
    definition.resolved?.kind === "stdio" ? [lookFor(definition, definition.resolved, launchContext)] : [],
  );
  return { ...(await readNodeFacts(launchContext)), launches: await Promise.all(programs) };
}

/** Reads the facts about Node, npx and `PATH`. They need no settings. */
export async function readNodeFacts(launchContext: LaunchContext): Promise<Omit<ProgramFacts, "launches">> {
  const { env, cwd, platform } = launchContext.environment;
  const written = env["PATH"] ?? systemPath;
  const { path } = await withoutUntrusted(written, launchContext);
  const find = async (command: string): Promise<string | undefined> =>
    platform === "win32" ? (await findOnWindows(command, env)).file : findProgram(command, path, cwd);
  const [node, npx] = await Promise.all([find("node"), find("npx")]);
  const file = process.execPath;
  const isOther = node !== undefined && (await realpath(node)) !== (await realpath(file));
  return {
    node: { version: process.version, file, other: isOther ? node : undefined },
    npx,
    // An empty entry in PATH means the current folder, so it counts as relative.
    relativePath: written === "" ? [] : written.split(delimiter).filter((folder) => !isAbsolute(folder)),
  };
}

async function lookFor(
  { name: server, origin }: ServerDefinition,
  transport: StdioTransport,
  launchContext: LaunchContext,
): Promise<LaunchFacts> {
  const { command } = transport;
  try {
    const { file, target, droppedPath } = await planLaunch(server, transport, launchContext);
    const path = target.env["PATH"] ?? systemPath;
    const { home, platform } = launchContext.environment;
    const base = { server, origin, command, droppedPath };
    if (platform === "win32") return { ...base, ...(await findOnWindows(command, target.env)) };
    const wanted = file === undefined ? undefined : await interpreterOf(file);
    const isFound = wanted === undefined || (await findProgram(wanted, path, target.cwd)) !== undefined;
    const missing = file === undefined ? command : isFound ? undefined : wanted;
    const elsewhere = missing === undefined ? undefined : await findElsewhere(missing, home);
    const managed = file === undefined || command.includes("/") ? undefined : await managerOf(file);
    return {
      ...base,
      file,
      interpreter: wanted === undefined ? undefined : { name: wanted, isFound },
      elsewhere,
      managed,
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { server, origin, command, droppedPath: [], refused: error };
  }
}

/** Returns the program that a script's first line (`#!`) names. */
async function interpreterOf(file: string): Promise<string | undefined> {
  const [program, argument] = await firstLine(file);
  return program !== undefined && /[/]env$/.test(program) ? argument : program;
}

/**
 * Folders of version managers. A relative path is below the home folder. `*` matches every folder, newest version
 * first.
 */
const managerFolders: readonly (readonly [manager: string, folder: string])[] = [
  ["nvm", ".nvm/versions/node/*/bin"],
  ["fnm", ".local/share/fnm/node-versions/*/installation/bin"],
  ["fnm", "Library/Application Support/fnm/node-versions/*/installation/bin"],
  ["volta", ".volta/bin"],
  ["asdf", ".asdf/shims"],
  ["mise", ".local/share/mise/shims"],
  ["pyenv", ".pyenv/shims"],
  ["bun", ".bun/bin"],
  ["deno", ".deno/bin"],
  ["cargo", ".cargo/bin"],
  ["uv or pipx", ".local/bin"],
  ["Homebrew", "/opt/homebrew/bin"],
  ["Homebrew", "/home/linuxbrew/.linuxbrew/bin"],
];

/**
 * Folders that shell startup files add to `PATH`. Editors and services, for example, do not have them on their `PATH`.
 */
const ofShells: readonly (readonly [manager: string, folder: RegExp])[] = [
  ["nvm", /[/\\][.]nvm[/\\]versions[/\\]/],
  ["fnm", /[/\\]fnm_multishells[/\\]|[/\\]fnm[/\\]node-versions[/\\]/],
  ["volta", /[/\\][.]volta[/\\]bin$/],
  ["asdf", /[/\\][.]asdf[/\\]shims$/],
  ["mise", /[/\\]mise[/\\]shims$/],
  ["pyenv", /[/\\][.]pyenv[/\\]shims$/],
];

interface Managed {
  readonly manager: string;
  /** The version manager's folder with symbolic links resolved, because fnm puts temporary links on `PATH`. */
  readonly folder: string;
}

/** Returns the version manager's folder that has the command, if the command is not on `PATH`. */
async function findElsewhere(command: string, home: string): Promise<Managed | undefined> {
  if (command.includes("/")) return undefined;
  for (const [manager, pattern] of managerFolders)
    for (const folder of await foldersOf(pattern, home))
      if ((await findProgram(command, folder, home)) !== undefined) return { manager, folder };
  return undefined;
}

/** Returns the version manager whose folder contains the program, if any. */
async function managerOf(file: string): Promise<Managed | undefined> {
  const folder = dirname(file);
  const manager = ofShells.find(([, pattern]) => pattern.test(folder))?.[0];
  return manager === undefined ? undefined : { manager, folder: await realpath(folder).catch(() => folder) };
}

async function foldersOf(pattern: string, home: string): Promise<readonly string[]> {
  const [before = "", after] = (pattern.startsWith("/") ? pattern : join(home, pattern)).split("*");
  if (after === undefined) return [before];
  const names = await readdir(before).catch(() => []);
  const newestFirst = names.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return newestFirst.map((name) => join(before, name, after));
}

interface WindowsProgram {
  readonly file?: string;
  /** A PowerShell script, which Windows cannot start as a program. */
  readonly script?: string;
}

type IsFile = (path: string) => Promise<boolean>;

/** Finds a command on Windows, where the file extension decides whether a file can be started. */
export async function findOnWindows(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  isFile: IsFile = isRegularFile,
): Promise<WindowsProgram> {
  const value = (name: string): string | undefined =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
  const endings = (value("PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");
  const hasEnding = endings.includes(win32.extname(command).toLowerCase());
  const folders = /[/\\]/.test(command) ? [""] : (value("PATH") ?? "").split(";").filter((folder) => folder !== "");
  let script: string | undefined;
  for (const folder of folders) {
    const path = folder === "" ? command : win32.join(folder, command);
    for (const ending of hasEnding ? [""] : endings)
      if (await isFile(`${path}${ending}`)) return { file: `${path}${ending}` };
    const other = path.toLowerCase().endsWith(".ps1") ? path : `${path}.ps1`;
    if (script === undefined && (await isFile(other))) script = other;
  }
  return script === undefined ? {} : { script };
}

async function isRegularFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
