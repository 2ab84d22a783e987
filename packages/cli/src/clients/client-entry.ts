/** Creates the entry that `connect` writes for a client: a command, or a URL with its own token. */

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { isInside, realPathOf } from "@fairlead/core/files";
import { hidden, toShellWord } from "@fairlead/core/plain-text";
import { type ClientEntry, fromForeignEntry } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";
import type { ClientTokenInfo } from "@fairlead/gateway/tokens/client-tokens";
import type { Context, Io } from "../shell/verb.ts";
import { type ClientName, clients, type ForeignEntry, toForeignEntry } from "./client.ts";
import type { ConnectPlan } from "./connect-client.ts";
import { digestOf } from "./receipts.ts";

/**
 * The default port in the entries of `fairlead connect --http`. It is fixed, so that the entries stay valid after
 * `fairlead serve --http` restarts.
 */
export const gatewayPort = "4100";

/** The entry that `connect` will write, and warnings for the user. */
interface PlannedEntry {
  /** The entry, still without a token. Fairlead creates the token after the user has agreed to the change. */
  readonly entry: ForeignEntry;
  readonly warnings: readonly string[];
}

/**
 * Creates the entry for a client. `url`: the gateway's URL, or undefined if the client starts a command.
 *
 * @throws HostError `usage` if the client's file does not support servers with a URL
 */
export async function entryFor(
  client: ClientName,
  file: string,
  url: string | undefined,
  configuration: Configuration,
  context: Context,
): Promise<PlannedEntry> {
  if (url !== undefined) return { entry: formOf(client, bearer(url, hidden)), warnings: await readableByOthers(file) };
  const { isTemporary, ...serve } = await gatewayCommand(["--client", client], configuration, context);
  const entry: ClientEntry = { kind: "stdio", ...serve };
  const warning =
    "Fairlead runs from npm's cache, which npm may clear; install it (docs/install.md), then run fairlead connect again";
  return { entry: formOf(client, entry), warnings: isTemporary ? [warning] : [] };
}

/** The command that other programs start: `fairlead serve` with these words, the same settings and the same home. */
export async function gatewayCommand(
  words: readonly string[],
  { environment: { env }, locations }: Configuration,
  { io, globals }: Context,
): Promise<OwnCommand & { readonly env: Readonly<Record<string, string>> }> {
  const own = await ownCommand(io, locations.root);
  const settings = globals.settings === undefined ? [] : ["--settings", locations.files.user ?? globals.settings];
  return {
    ...own,
    args: [...own.args, "serve", ...words, ...settings],
    // The other program may run without FAIRLEAD_HOME in its environment, so its entry sets the variable.
    env: env["FAIRLEAD_HOME"] === undefined ? {} : { FAIRLEAD_HOME: env["FAIRLEAD_HOME"] },
  };
}

function bearer(url: string, token: string): ClientEntry {
  return { kind: "http", url, headers: { Authorization: `Bearer ${token}` } };
}

/**
 * Converts an entry to the format of the client's file.
 * @throws HostError `usage` if the client's file does not support servers with a URL
 */
function formOf(client: ClientName, entry: ClientEntry): ForeignEntry {
  const form = toForeignEntry(client, entry);
  if (form !== undefined) return form;
  throw new HostError("usage", `${clients[client].title} does not support servers with a URL in its settings file`, {
    next: `fairlead connect ${client}`,
  });
}

/** Returns the entry with a new token. The state folder keeps only a digest of the token. */
export async function withToken(client: ClientName, url: string, state: string): Promise<ForeignEntry> {
  const { createClientTokens } = await import("@fairlead/gateway/tokens/client-tokens");
  return formOf(client, bearer(url, await createClientTokens(state).create(client)));
}

/** Revokes the tokens that the gateway has for a client. Returns their number. */
export async function revokeClientTokens(client: ClientName, state: string): Promise<number> {
  const { createClientTokens } = await import("@fairlead/gateway/tokens/client-tokens");
  const tokens = createClientTokens(state);
  return (await tokens.list()).some((token) => token.client === client) ? tokens.revoke(client) : 0;
}

/** Lists the tokens that the gateway accepts, without the tokens themselves. */
export async function listClientTokens(state: string): Promise<readonly ClientTokenInfo[]> {
  const { createClientTokens } = await import("@fairlead/gateway/tokens/client-tokens");
  return createClientTokens(state).list();
}

/**
 * Whether an earlier `connect --http` wrote an entry with this URL, the file has not changed since, and no server is
 * moved. Then the entry keeps its token.
 */
export function isSameUrl({ text, entry, earlier }: ConnectPlan, move: readonly string[]): boolean {
  const [planned, written] = [fromForeignEntry(entry), fromForeignEntry(earlier?.entry)];
  return (
    move.length === 0 &&
    planned?.kind === "http" &&
    written?.kind === "http" &&
    planned.url === written.url &&
    text !== undefined &&
    digestOf(text) === earlier?.after
  );
}

const forOthers = 0o044;

async function readableByOthers(file: string): Promise<readonly string[]> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || process.platform === "win32" || (found.mode & forOthers) === 0) return [];
  return [`other users of this machine can read ${file}, and the token in it: chmod 600 ${toShellWord(file)}`];
}

// Finds the command with which other programs start Fairlead. Its paths are absolute and, if possible, stay valid
// after an upgrade.

/** The command that starts this Fairlead: Node with the path of Fairlead's main script, or the single executable. */
interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether npm may remove the main script at any time, because it is in the cache of `npx`. */
  readonly isTemporary: boolean;
}

/**
 * Returns the command that starts this Fairlead.
 *
 * @param root The workspace. Links in it are not used, because an untrusted workspace could replace them later.
 */
export async function ownCommand(
  { program, env, platform }: Pick<Io, "program" | "env" | "platform">,
  root: string,
): Promise<OwnCommand> {
  const { node, file } = program ?? { node: process.execPath, file: process.argv[1] ?? "" };
  const inPath = platform === "win32" ? [] : (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  const real = await Promise.all(inPath.map(realPathOf));
  const folders = inPath.filter((_folder, at) => !isInside(real[at] ?? "", root));
  if (file === undefined) return { command: await stablest(node, folders, "fairlead"), args: [], isTemporary: false };
  const ownFile = await stablest(file, folders, "fairlead");
  return {
    command: await stablest(node, folders, "node"),
    args: [ownFile],
    isTemporary: /[/\\]_npx[/\\]/.test(ownFile),
  };
}

/** Matches a version in a path, such as `Cellar/node/22.1.0`. An upgrade removes such a path. */
const versioned = /\d+\.\d+/;

/**
 * Replaces a path with a version, such as `Cellar/node/22.1.0/bin/node`, by a link to the same file, such as
 * `/usr/local/bin/node`. An upgrade usually keeps the link.
 */
async function stablest(path: string, folders: readonly string[], name: string): Promise<string> {
  if (!versioned.test(path)) return path;
  const real = await realpath(path).catch(() => path);
  for (const folder of folders) {
    const link = join(folder, name);
    if (!versioned.test(link) && (await realpath(link).catch(() => undefined)) === real) return link;
  }
  return versioned.test(real) ? path : real;
}
