/**
 * Finds programs in `PATH`, for servers and for Fairlead itself, and finds out which programs and folders lie in an
 * untrusted workspace.
 */

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import { isInside } from "../files/real-path.ts";
import type { Environment } from "../settings/read/paths.ts";

/** The facts that decide in which folders Fairlead may search for programs. */
export interface ProgramPlace {
  readonly environment: Pick<Environment, "env" | "platform" | "home">;
  /** The real path of the workspace root. */
  readonly root: string;
  readonly trusted: boolean;
  /** Measures the age of cached searches. Default: the clock of the process. */
  readonly clock?: Clock;
}

/**
 * Returns the `ProgramPlace` of a configuration: its environment, its workspace root and whether the workspace is
 * trusted.
 */
export function programPlace<Given extends ProgramPlace["environment"]>(configuration: {
  readonly environment: Given;
  readonly locations: { readonly root: string };
  readonly trust: { readonly trusted: boolean };
}): ProgramPlace & { readonly environment: Given } {
  const { environment, locations, trust } = configuration;
  return { environment, root: locations.root, trusted: trust.trusted };
}

/** The search path if `PATH` is not set. An empty `PATH` is different: it means the current folder. */
export const systemPath = "/bin:/usr/bin";

/** A search path, and the entries that were removed from it. */
export interface SearchPath {
  readonly path: string;
  readonly dropped: readonly string[];
}

/**
 * Removes from a search path the entries that an untrusted workspace could control: relative entries, and entries
 * inside the workspace. In a trusted workspace, removes nothing.
 */
export async function withoutUntrusted(path: string, context: ProgramPlace): Promise<SearchPath> {
  if (context.trusted) return { path, dropped: [] };
  return recently(context, `PATH ${context.root} ${path}`, () => searchPathIn(path, context));
}

async function searchPathIn(path: string, context: ProgramPlace): Promise<SearchPath> {
  const forbidden = await forbiddenFolder(context);
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
export async function isUntrustedFolder(path: string, context: ProgramPlace): Promise<boolean> {
  const forbidden = await forbiddenFolder(context);
  if (forbidden === undefined) return false;
  return recently(context, `folder ${forbidden} ${path}`, () => liesIn(path, forbidden));
}

/**
 * Whether a program file lies in the untrusted workspace, directly or through a symbolic link. Resolves the link
 * synchronously, so that little time passes between this check and the start.
 */
export async function isUntrusted(file: string, context: ProgramPlace): Promise<boolean> {
  const forbidden = await forbiddenFolder(context);
  if (forbidden === undefined) return false;
  if (isInside(resolve(file), forbidden)) return true;
  try {
    return isInside(realpathSync.native(file), forbidden);
  } catch {
    // If the file does not exist, there is no link to follow.
    return false;
  }
}

/**
 * The workspace, if Fairlead must not start programs in it. Undefined if it is trusted. Also undefined if it contains
 * the home folder, because otherwise no program of the user could start.
 */
async function forbiddenFolder(context: ProgramPlace): Promise<string | undefined> {
  const { environment, root, trusted } = context;
  if (trusted) return undefined;
  const isHomeInside = await recently(context, `home ${root}`, () => liesIn(environment.home, root));
  return isHomeInside ? undefined : root;
}

async function liesIn(path: string, root: string): Promise<boolean> {
  if (isInside(resolve(path), root)) return true;
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

/** Search results are cached for this many milliseconds, so that servers which start at the same time share them. */
const keptFor = 1000;

interface Kept {
  readonly since: number;
  readonly answer: Promise<unknown>;
}

const cachedResults = new WeakMap<ProgramPlace["environment"], Map<string, Kept>>();

/** Returns the cached result for the key `question`, or calls `find` if there is none or it is too old. */
function recently<T>(
  { environment, clock = systemClock }: ProgramPlace,
  question: string,
  find: () => Promise<T>,
): Promise<T> {
  const kept = cachedResults.get(environment) ?? new Map<string, Kept>();
  cachedResults.set(environment, kept);
  const now = clock.now();
  const found = kept.get(question);
  if (found !== undefined && now - found.since < keptFor) return found.answer as Promise<T>;
  const answer = find();
  kept.set(question, { since: now, answer });
  return answer;
}

/** A program that Fairlead itself needs, and the environment in which it starts. */
export interface OwnProgram {
  /** An absolute path. */
  readonly file: string;
  /** Fairlead's environment with a safe `PATH`, because the program may start further programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds a program that Fairlead itself needs, for example to open a browser. Ignores relative entries of `PATH`,
 * because Fairlead starts the program in another folder.
 */
export async function findOwnProgram(name: string, context: ProgramPlace): Promise<OwnProgram | undefined> {
  const { env } = context.environment;
  const absolute = (env["PATH"] ?? systemPath).split(delimiter).filter((entry) => isAbsolute(entry));
  const { path } = await withoutUntrusted(absolute.join(delimiter), context);
  const file = path === "" ? undefined : await findProgram(name, path, "/");
  return file === undefined || (await isUntrusted(file, context)) ? undefined : { file, env: { ...env, PATH: path } };
}

/**
 * Returns the executable file of a command. Undefined if there is none, and always on Windows, where the system finds
 * the file.
 */
export async function findProgram(command: string, path: string, cwd: string): Promise<string | undefined> {
  if (process.platform === "win32") return undefined;
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  return candidates.find(isExecutable);
}

/** Whether the file can be executed. Synchronous, because one check takes only microseconds. */
function isExecutable(file: string): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // If the file cannot be executed, the search continues with the next folder, as in a shell.
    return false;
  }
}
