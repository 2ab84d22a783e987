/**
 * Finds programs on a `PATH`: those of servers, and those that Fairlead itself starts. Every search goes through this
 * file, so that nothing is ever found through a `PATH` entry inside an untrusted workspace.
 */

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { systemClock } from "../clock.ts";
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
  return recently(place.environment, `PATH ${place.root} ${path}`, () => searchPathIn(path, place));
}

async function searchPathIn(path: string, place: ProgramPlace): Promise<SearchPath> {
  const forbidden = await forbiddenFolder(place);
  const entries = path.split(delimiter);
  const areSafe = await Promise.all(
    entries.map(async (entry) => isAbsolute(entry) && !(forbidden !== undefined && (await liesIn(entry, forbidden)))),
  );
  return {
    path: entries.filter((_, at) => areSafe[at]).join(delimiter),
    dropped: entries.filter((_, at) => !areSafe[at]),
  };
}

/** Whether a folder lies in the untrusted workspace, directly or through a symbolic link. */
export async function isUntrustedFolder(path: string, place: ProgramPlace): Promise<boolean> {
  const forbidden = await forbiddenFolder(place);
  if (forbidden === undefined) return false;
  return recently(place.environment, `folder ${forbidden} ${path}`, () => liesIn(path, forbidden));
}

/**
 * Whether a program file lies in the untrusted workspace, directly or through a symbolic link. Reads the file system at
 * once, just before the start: starting the program waits for the same file.
 */
export async function isUntrusted(file: string, place: ProgramPlace): Promise<boolean> {
  const forbidden = await forbiddenFolder(place);
  if (forbidden === undefined) return false;
  if (isInside(resolve(file), forbidden)) return true;
  try {
    return isInside(realpathSync.native(file), forbidden);
  } catch {
    // A file that does not exist leads nowhere.
    return false;
  }
}

/** If the workspace is the home folder or above it, every program would be inside it: then nothing is forbidden. */
async function forbiddenFolder({ environment, root, trusted }: ProgramPlace): Promise<string | undefined> {
  if (trusted) return undefined;
  const isHomeInside = await recently(environment, `home ${root}`, () => liesIn(environment.home, root));
  return isHomeInside ? undefined : root;
}

async function liesIn(path: string, root: string): Promise<boolean> {
  if (isInside(resolve(path), root)) return true;
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

/** How many milliseconds an answer about folders is cached: servers that start together ask about the same folders. */
const keptFor = 1000;

interface Kept {
  readonly since: number;
  readonly answer: Promise<unknown>;
}

/** The cached answers about the folders of an environment. */
const keptAnswers = new WeakMap<ProgramPlace["environment"], Map<string, Kept>>();

/** @param question Identifies the result of `find`. */
function recently<T>(environment: ProgramPlace["environment"], question: string, find: () => Promise<T>): Promise<T> {
  const kept = keptAnswers.get(environment) ?? new Map<string, Kept>();
  keptAnswers.set(environment, kept);
  const now = systemClock.now();
  const found = kept.get(question);
  if (found !== undefined && now - found.since < keptFor) return found.answer as Promise<T>;
  const answer = find();
  kept.set(question, { since: now, answer });
  return answer;
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
  return places.find(isExecutable);
}

/** Synchronous, like the system's own search: a search takes microseconds. */
function isExecutable(file: string): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Not readable or not executable: the system would try the next folder too.
    return false;
  }
}
