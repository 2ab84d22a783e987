/**
 * Finds programs on a `PATH`: those of servers, and those that Fairlead itself starts. Every search goes through this
 * file, so that nothing is ever found through a `PATH` entry inside an untrusted workspace.
 */

import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../files/real-path.ts";
import type { Environment } from "../settings/read/paths.ts";

/** The facts that decide where Fairlead may search for programs. */
export interface ProgramPlace {
  readonly environment: Pick<Environment, "env" | "platform" | "home">;
  /** The workspace root, a real path. */
  readonly root: string;
  readonly trusted: boolean;
}

/** Returns the `ProgramPlace` of a configuration: its environment, its workspace root and whether that is trusted. */
export function programPlace<Given extends ProgramPlace["environment"]>(configuration: {
  readonly environment: Given;
  readonly locations: { readonly root: string };
  readonly trust: { readonly trusted: boolean };
}): ProgramPlace & { readonly environment: Given } {
  const { environment, locations, trust } = configuration;
  return { environment, root: locations.root, trusted: trust.trusted };
}

/** The system's search path if `PATH` is not set. An empty `PATH` means the current folder. */
export const systemPath = "/bin:/usr/bin";

/** A search path, and the entries that were removed from it. */
export interface SearchPath {
  readonly path: string;
  readonly dropped: readonly string[];
}

/**
 * Removes the entries of a search path that an untrusted workspace could control: relative ones, and those inside the
 * workspace. In a trusted workspace, removes nothing.
 */
export async function withoutUntrusted(path: string, place: ProgramPlace): Promise<SearchPath> {
  if (place.trusted) return { path, dropped: [] };
  const forbidden = await forbiddenFolder(place);
  const kept: string[] = [];
  const dropped: string[] = [];
  for (const entry of path.split(delimiter)) {
    const isSafe = isAbsolute(entry) && !(forbidden !== undefined && (await liesIn(entry, forbidden)));
    (isSafe ? kept : dropped).push(entry);
  }
  return { path: kept.join(delimiter), dropped };
}

/** Whether a path lies in the untrusted workspace, directly or through a symbolic link. */
export async function isUntrusted(path: string, place: ProgramPlace): Promise<boolean> {
  const forbidden = await forbiddenFolder(place);
  return forbidden !== undefined && liesIn(path, forbidden);
}

/** If the workspace is the home folder or above it, every program would be inside it: then nothing is forbidden. */
async function forbiddenFolder({ environment, root, trusted }: ProgramPlace): Promise<string | undefined> {
  return trusted || (await liesIn(environment.home, root)) ? undefined : root;
}

async function liesIn(path: string, root: string): Promise<boolean> {
  if (isInside(resolve(path), root)) return true;
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

/** A program that Fairlead itself starts, with the environment to start it in. */
export interface OwnProgram {
  /** An absolute path. */
  readonly file: string;
  /** Fairlead's environment, with only the searched entries in `PATH`, because the program may start other programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds a program that Fairlead itself starts, such as the one that opens a browser. Relative entries of `PATH` are left
 * out in a trusted workspace too: such a program does not start in the current folder.
 */
export async function findOwnProgram(name: string, place: ProgramPlace): Promise<OwnProgram | undefined> {
  const { env } = place.environment;
  const absolute = (env["PATH"] ?? systemPath).split(delimiter).filter((entry) => isAbsolute(entry));
  const { path } = await withoutUntrusted(absolute.join(delimiter), place);
  const file = path === "" ? undefined : await findProgram(name, path, "/");
  return file === undefined || (await isUntrusted(file, place)) ? undefined : { file, env: { ...env, PATH: path } };
}

/** The executable file of a command; undefined if there is none, and always on Windows, where the system searches. */
export async function findProgram(command: string, path: string, cwd: string): Promise<string | undefined> {
  if (process.platform === "win32") return undefined;
  const places = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  for (const place of places) if (await isExecutable(place)) return place;
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Missing or not executable: the system would try the next folder too.
    return false;
  }
}
