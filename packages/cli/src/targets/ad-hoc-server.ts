/**
 * Adds a server given on the command line to the configuration of one run. Saves it only with `--persist`, after it has
 * worked.
 */

import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { problemLines } from "@fairlead/console/server/words/server-details";
import { findDownload } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { childNode, plainValueOf, readSource, writeServer } from "@fairlead/core/settings";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { addAdHocServer, type Configuration, isServerNameTaken } from "@fairlead/core/trust";
import { listOf } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { hints } from "../commands/mcp/add/add-report.ts";
import { destinationOf, removeLine } from "../commands/mcp/add/destination.ts";
import { type AddOptions, type Entry, type NewServer, newServers } from "../commands/mcp/add/new-entry.ts";
import { type Context, usageError } from "../shell/verb.ts";

/** The options for a server given on the command line. */
export interface TypedOptions extends Pick<AddOptions, "env" | "header" | "transport"> {
  readonly name?: string;
  readonly persist?: boolean;
}

/** A server given on the command line, added to the configuration. */
export interface AdHoc {
  readonly name: string;
  /** The configuration with this server added. */
  readonly configuration: Configuration;
  /** With `--persist`, saves the server. Call it after connecting has succeeded. */
  readonly keep: () => Promise<void>;
}

/**
 * Adds the server. `typed`: the URL or the command line.
 * @throws HostError `usage`
 */
export async function openTyped(
  typed: string,
  { persist = false, ...options }: TypedOptions,
  configuration: Configuration,
  context: Context,
): Promise<AdHoc> {
  const isFree = (name: string): boolean => !isServerNameTaken(name, configuration);
  const entry = entryOf(typed, options, context);
  const name = options.name ?? chooseName(adHocName(entry), isFree, persist);
  const isKept = !isFree(name) && persist && (await isWritten({ name, entry }, configuration));
  if (!isFree(name) && !isKept)
    throw usageError(
      `the server name "${name}" is already in use: choose another --name, or use that server by its name`,
      context,
    );
  // The user may repeat a command with `--persist`, so an identical entry in the user settings is not an error.
  const others = isKept ? configuration.servers.filter(({ server }) => server.name !== name) : configuration.servers;
  const { configuration: wider, added } = await addAdHocServer({ ...configuration, servers: others }, { name, entry });
  const { server, admission } = added;
  for (const problem of server.problems.filter(({ severity }) => severity === "warning"))
    context.out.warn(problemLines(problem));
  if (admission.status === "admitted" && server.kind === "stdio") tellFolder(entry, configuration, context);
  const keep = async (): Promise<void> => {
    if (isKept) context.out.say(safe`"${toSafeLine(name)}" is already in your settings with the same entry`);
    else if (persist) await save({ name, entry }, configuration, context);
  };
  return { name, configuration: wider, keep };
}

/** Whether the user settings already have this entry, and it is the one that Fairlead uses. */
async function isWritten({ name, entry }: NewServer, { servers, locations }: Configuration): Promise<boolean> {
  const { file } = destinationOf("user", locations);
  if (servers.find(({ server }) => server.name === name)?.server.origin.file !== file) return false;
  const written = childNode((await readSource("user", file)).root, "mcpServers", name);
  return written !== undefined && isDeepStrictEqual(plainValueOf(written), entry);
}

/**
 * Returns a name for the server. If the wanted name is in use, adds a number to it. With `--persist`, returns the
 * wanted name unchanged, because the user expects the saved server to have that name.
 */
function chooseName(wanted: string, isFree: (name: string) => boolean, persist: boolean): string {
  let name = wanted;
  for (let number = 2; !persist && !isFree(name); number += 1) name = `${wanted}-${number}`;
  return name;
}

function entryOf(typed: string, options: AddOptions, context: Context): Entry {
  const { cwd } = context.io;
  const isFile = (path: string): boolean => statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isFile() ?? false;
  const [server] = asOurs(() => newServers({ operands: ["typed", typed], rest: [], isFile }, options), context);
  const { command, ...entry } = server?.entry ?? {};
  if (typeof command !== "string") return server?.entry ?? {};
  // A relative path depends on the current folder, which settings do not record, so the path is made absolute.
  const isRelative = /[/\\]/.test(command) && !isAbsolute(command) && !/^[~$]/.test(command);
  return { command: isRelative ? resolve(cwd.replaceAll("$", "$$$$"), command) : command, ...entry };
}

/** Runs `read`, and converts its errors to usage errors. */
function asOurs<T>(read: () => T, context: Context): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof HostError ? usageError(error.message, context) : error;
  }
}

/**
 * Warns if an argument names a file in this folder and the folder is not trusted: the program starts in the home folder
 * and does not find the file.
 */
function tellFolder({ args }: Entry, { trust }: Configuration, { io, out }: Context): void {
  if (trust.trusted || io.cwd === io.home) return;
  const isHere = (word: string): boolean => !isAbsolute(word) && existsSync(resolve(io.cwd, word));
  const file = listOf(args).map(String).find(isHere);
  if (file === undefined) return;
  out.say(
    safe`note: this folder is not trusted, so the program starts in ${toSafeLine(io.home)} and looks for "${toSafeLine(file)}" there
  next: write the absolute path, or: fairlead trust add`,
  );
}

async function save(
  { name, entry }: NewServer,
  { locations }: Configuration,
  { out, globals }: Context,
): Promise<void> {
  const { file, edit } = destinationOf("user", locations);
  await writeServer(file, name, entry, { ...edit, replace: false });
  out.say(safe`added "${toSafeLine(name)}" to ${toSafeLine(file)} (user)`);
  for (const hint of hints(entry)) out.warn(safe`warning: ${toSafeLine(hint)}`);
  out.undo(removeLine(name, "user", globals));
}

const fallback = "server";
const longest = 60;

/** Derives a server name from a typed URL or command: its host, package or file. */
export function adHocName(entry: Entry): string {
  const { command, args, url } = entry;
  if (typeof url === "string") return tidy(parseUrl(url)?.host ?? "");
  const program = String(command);
  const rest = listOf(args).map(String);
  const download = findDownload(program, rest)?.name;
  return tidy(download === undefined ? fileName(program, rest) : packageName(download));
}

/**
 * Returns the short name of a package or image: `server-files` for `@scope/server-files@1.2.0`, `server` for
 * `ghcr.io/org/server:latest`.
 */
function packageName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return /^[^@:=[<>~]+/.exec(last)?.[0] ?? last;
}

/** Returns the name of the script, not of the interpreter that runs it. */
function fileName(program: string, args: readonly string[]): string {
  const isInterpreter = /^(?:node|bun|deno|tsx|python[\d.]*|ruby|perl|php|java)$/.test(baseName(program));
  const script = isInterpreter ? args.find((word) => !word.startsWith("-") && word !== "run") : undefined;
  const path = script ?? program;
  const name = baseName(path);
  return /^(?:index|main|__main__)$/.test(name) ? (folderName(path) ?? name) : name;
}

/** Returns the last folder of the path, but skips common names such as `dist`: `memory` for `memory/dist/index.js`. */
function folderName(path: string): string | undefined {
  const folders = path.split(/[/\\]/).slice(0, -1);
  return folders.findLast((folder) => !/^(?:|\.{1,2}|dist|build|out|src|lib|bin)$/.test(folder));
}

function baseName(path: string): string {
  const [last = ""] = path.split(/[/\\]/).slice(-1);
  return last.replace(/\.(?:[cm]?[jt]s|py|rb|pl|php|jar|exe|cmd|bat|sh)$/i, "");
}

/** Replaces characters in a server name that would need quotes in a shell. */
function tidy(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "");
  return plain === "" ? fallback : plain.slice(0, longest);
}
