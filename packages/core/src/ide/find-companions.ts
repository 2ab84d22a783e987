/** Finds the IDE companions of a folder: in the port files of this user, and in the environment of the terminal. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open, readdir, readFile, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { parseObject, stringOf } from "@fairlead/wire/json";
import { isInside, realPathOf } from "../files/real-path.ts";
import type { Environment } from "../settings/read/paths.ts";
import { ideVariables, portFolder, processOf } from "./port-file.ts";

/** Where a companion listens, and the folders of its window. */
export interface CompanionAddress {
  /** A port of 127.0.0.1. */
  readonly port: number;
  /** Proves to the companion that a program of its user asks. Never log it. */
  readonly token: string | undefined;
  /** The real paths of the folders that are open in the IDE. */
  readonly folders: readonly string[];
}

/** The environment in which to look. */
export interface FindOptions {
  readonly environment: Pick<Environment, "env" | "platform">;
  /** Whether the IDE may be found as a parent of this process. */
  readonly isInTerminal: boolean;
}

/** A port, a folder list and a token as they are written. */
interface Written {
  readonly port: number | undefined;
  readonly workspace: string | undefined;
  readonly token: string | undefined;
}

const portFileBytes = 65_536;
const mostCompanions = 3;
const mostFolders = 64;
const mostParents = 64;

/**
 * Returns the companions whose window contains the folder, the most likely first. Port files come before the
 * environment, and the one with the environment's port before the others. Never rejects.
 *
 * @param root The real path of the folder.
 */
export async function findCompanions(
  root: string,
  { environment, isInTerminal }: FindOptions,
): Promise<readonly CompanionAddress[]> {
  const { env, platform } = environment;
  const terminal: Written = {
    port: portOf(Number(/^\d{1,5}$/.exec(env[ideVariables.port] ?? "")?.[0])),
    workspace: env[ideVariables.workspace],
    token: env[ideVariables.token],
  };
  const files = await readPortFiles(root, terminal.port, { environment, isInTerminal });
  const isTerminals = ({ port }: Written): boolean => port === terminal.port;
  const ordered = [...files.filter(isTerminals), ...files.filter((file) => !isTerminals(file))];
  const written = ordered.some(isTerminals) ? ordered : [...ordered, terminal];
  const addresses = await Promise.all(written.map((one) => addressOf(one, terminal, platform)));
  return addresses
    .filter((address) => address !== undefined)
    .filter(({ folders }) => folders.some((folder) => isInside(root, folder)))
    .slice(0, mostCompanions);
}

function portOf(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535 ? Number(value) : undefined;
}

/** Checks what a file or the terminal says. A file of an old companion has no token, so the terminal's is used. */
async function addressOf(
  { port, workspace = "", token: ownToken }: Written,
  terminal: Written,
  platform: NodeJS.Platform,
): Promise<CompanionAddress | undefined> {
  const token = ownToken ?? (port === terminal.port ? terminal.token : undefined);
  // A token with other characters cannot be sent as a header.
  if (port === undefined || (token !== undefined && !/^[\x21-\x7e]{1,4096}$/.test(token))) return undefined;
  const paths = workspace.split(platform === "win32" ? ";" : ":").slice(0, mostFolders);
  const folders = await Promise.all(paths.filter(isAbsolute).map((path) => realpath(path).catch(() => undefined)));
  return { port, token, folders: folders.filter((folder) => folder !== undefined) };
}

/**
 * Reads the port files of this terminal's IDE. Ignores port files inside the workspace, because a workspace must not
 * declare itself trusted.
 */
async function readPortFiles(
  root: string,
  terminalPort: number | undefined,
  { environment, isInTerminal }: FindOptions,
): Promise<readonly Written[]> {
  const folder = portFolder(environment);
  if (!isAbsolute(folder) || isInside(await realPathOf(folder), root)) return [];
  const names = (await readdir(folder).catch((): string[] => [])).sort();
  const given = Number(environment.env[ideVariables.process]);
  const processes = Number.isInteger(given) && given > 1 ? new Set([given]) : undefined;
  const parents = processes ?? (isInTerminal && names.some(processOf) ? await parentProcesses(environment) : new Set());
  const isOurs = (name: string): boolean => {
    const id = processOf(name);
    return id !== undefined && (parents.has(id) || name.endsWith(`-${id}-${terminalPort}.json`));
  };
  const files = await Promise.all(names.filter(isOurs).map((name) => readPortFile(join(folder, name))));
  return files.flatMap((file) => file ?? []);
}

/** Reads a port file. Undefined unless it is a regular file of this user that no other user can read or change. */
async function readPortFile(file: string): Promise<Written | undefined> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const handle = await open(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    const { uid, mode, nlink, size } = stats;
    const user = process.getuid?.();
    // Windows has no modes: the folder for temporary files is the user's own there.
    const isPrivate = user === undefined || (uid === user && (mode & 0o077) === 0 && nlink === 1);
    if (!stats.isFile() || !isPrivate || size > portFileBytes) return undefined;
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size), position: 0 });
    const { port, workspacePath, authToken } = parseObject(buffer.toString("utf8", 0, bytesRead)) ?? {};
    return { port: portOf(port), workspace: stringOf(workspacePath), token: stringOf(authToken) };
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** The ids of the processes above this one, without the first process of the system. Empty on Windows. */
async function parentProcesses({ platform }: Pick<Environment, "platform">): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  if (platform === "win32") return found;
  const parentOf = platform === "linux" ? parentInProc : await parentInTable();
  for (let id = process.ppid; id > 1 && found.size < mostParents && !found.has(id); id = await parentOf(id))
    found.add(id);
  return found;
}

async function parentInProc(id: number): Promise<number> {
  const text = await readFile(`/proc/${id}/stat`, "latin1").catch(() => "");
  // Field 2 is the name in parentheses, which may itself contain ") ". The parent is field 4.
  return Number(text.slice(text.lastIndexOf(") ") + 2).split(" ", 2)[1] ?? 0);
}

/** Reads the table of all processes once. */
async function parentInTable(): Promise<(id: number) => Promise<number>> {
  const text = await new Promise<string>((resolve) => {
    execFile("/bin/ps", ["-axo", "pid=,ppid="], { timeout: 500, maxBuffer: 4_194_304 }, (_, output) => resolve(output));
  });
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const parents = new Map(rows.map(([id = 0, parent = 0]) => [id, parent]));
  return async (id) => parents.get(id) ?? 0;
}
