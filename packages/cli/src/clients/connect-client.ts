/** Writes Fairlead's entry into a client's settings file. First makes a plan, which a command can show to the user. */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import { privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { updateText } from "@fairlead/core/files/atomic/update-text";
import { readText } from "@fairlead/core/files/read-text";
import { notWritten, unless } from "@fairlead/core/files/system-error";
import { limits } from "@fairlead/core/limits";
import { isOwnServer, ownEntryName } from "@fairlead/core/settings/own-server";
import { type ClientName, clients, type ForeignEntry, tokenKeys } from "./client.ts";
import { changeServers, openClientText, removeOwnEntry } from "./client-text.ts";
import { digestOf, type Receipt, type ReceiptStore } from "./receipts.ts";

/** A planned change of one client's file. */
export interface ConnectPlan {
  readonly client: ClientName;
  readonly file: string;
  /** The current text of the file. Undefined if the file does not exist. */
  readonly text: string | undefined;
  /** The text that `connect` would write. */
  readonly after: string;
  readonly entry: ForeignEntry;
  /** The text that `disconnect` would restore. */
  readonly before: string | undefined;
  readonly moved: readonly string[];
  /** The receipt of an earlier `connect` for this file. */
  readonly earlier: Receipt | undefined;
}

/** The entry that `connect` adds to a client's file, and the servers that it removes. */
export interface ConnectRequest {
  readonly client: ClientName;
  readonly file: string;
  readonly entry: ForeignEntry;
  /** Names of the client's own servers that `connect --replace` removes from the client's file. */
  readonly move: readonly string[];
}

/**
 * Plans the change of a client's file. Writes nothing.
 *
 * @throws HostError if the file cannot be read or parsed, or if another server in it is named `fairlead`
 */
export async function planConnect(request: ConnectRequest, receipts: ReceiptStore): Promise<ConnectPlan> {
  const { client, file, entry, move } = request;
  const text = await readClientFile(file);
  const earlier = await receipts.read(client, file);
  const opened = await openClientText(client, file, text);
  const own = opened.servers.get(ownEntryName);
  if (own !== undefined && !isOwn(own.value, earlier)) {
    const { line, column } = own;
    throw new HostError(
      "usage",
      `${file}:${line}:${column}: ${clients[client].title} has another server named "${ownEntryName}"; the file was not changed`,
      { next: "Rename or remove that server, then try again." },
    );
  }
  const set = { name: ownEntryName, entry };
  const after =
    own !== undefined && isDeepStrictEqual(own.value, entry) && move.length === 0
      ? (text ?? "")
      : await changeServers(client, file, text, { remove: move, set });
  const before = await baseline(request, text, own !== undefined, earlier, receipts);
  const movedBefore = own === undefined ? [] : (earlier?.moved ?? []);
  return { client, file, text, after, entry, before, moved: [...new Set([...movedBefore, ...move])], earlier };
}

/**
 * Returns the text of a client's file. Undefined if the file does not exist.
 *
 * @throws HostError if the file exists and cannot be read as text
 */
export async function readClientFile(file: string): Promise<string | undefined> {
  const found = await readText(file, limits.clientFileBytes);
  if (found.kind === "unreadable") throw notWritten(file, found.reason, found.cause);
  return found.kind === "text" ? found.text : undefined;
}

function isOwn(value: unknown, receipt: Receipt | undefined): boolean {
  return isOwnServer(ownEntryName, value) || (receipt !== undefined && isDeepStrictEqual(value, receipt.entry));
}

/**
 * The text that `disconnect` restores. If the file is unchanged since an earlier `connect`, this is the text before
 * that `connect`. Otherwise it is the file's current text without Fairlead's entry.
 */
async function baseline(
  { client, file }: ConnectRequest,
  text: string | undefined,
  hasOwn: boolean,
  earlier: Receipt | undefined,
  receipts: ReceiptStore,
): Promise<string | undefined> {
  if (text === undefined || !hasOwn) return text;
  const stored = earlier === undefined ? "lost" : await receipts.textBefore(earlier);
  if (stored !== "lost" && earlier?.after === digestOf(text)) return stored.text;
  return removeOwnEntry(client, file, text, {
    before: stored === "lost" ? text : stored.text,
    name: ownEntryName,
    moved: stored === "lost" ? [] : (earlier?.moved ?? []),
  });
}

/**
 * Carries out a plan. First stores a receipt with the earlier text, then writes the client's file, so that `disconnect`
 * can undo the change even after a crash.
 *
 * @throws HostError `busy` if the file has changed since the plan was made
 */
export async function writeConnect(plan: ConnectPlan, receipts: ReceiptStore): Promise<"written" | "unchanged"> {
  const { client, file, text, after, entry, before, moved, earlier } = plan;
  return receipts.lock(client, file, async () => {
    /*
     * Checks the file before storing the receipt. If another `connect` has changed the file, that `connect` has stored
     * a receipt, which must not be overwritten.
     */
    if ((await readClientFile(file)) !== text) throw overtaken(file);
    const receipt: Receipt = {
      client,
      file,
      before: before === undefined ? null : digestOf(before),
      after: digestOf(after),
      entry: withoutToken(entry),
      moved,
      folders: text === undefined ? await missingFolders(file) : (earlier?.folders ?? []),
      written: new Date().toISOString(),
    };
    if (text === after && earlier?.after === receipt.after) return "unchanged";
    const old = earlier && (await receipts.textBefore(earlier));
    await receipts.save(receipt, before);
    try {
      return await updateText(
        file,
        (found) => {
          if (found !== text) throw overtaken(file);
          return after;
        },
        { mode: privateFileMode, maxBytes: limits.clientFileBytes },
      );
    } catch (error) {
      if (earlier !== undefined && old !== undefined && old !== "lost") await receipts.save(earlier, old.text);
      else await receipts.remove(receipt);
      throw error;
    }
  });
}

/** Returns the entry without its token, because a receipt must not contain a token. */
function withoutToken(entry: ForeignEntry): ForeignEntry {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !tokenKeys.includes(key)));
}

/** Creates the error `busy` for a file that another program changed during `connect` or `disconnect`. */
export function overtaken(file: string): HostError {
  return new HostError("busy", `${file} was changed by another program meanwhile; Fairlead did not change it`, {
    next: "Try again.",
  });
}

/** The folders above a file that do not exist yet, outermost first. */
async function missingFolders(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  if (folder === file || (await stat(folder).catch(unless("ENOENT", "ENOTDIR"))) !== undefined) return [];
  return [...(await missingFolders(folder)), folder];
}
