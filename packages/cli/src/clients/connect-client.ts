/** Writes Fairlead's entry into a client's settings file. First makes a plan, which a command can show to the user. */

import { rm, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import {
  findWritableFile,
  notWritten,
  privateFileMode,
  readText,
  toWriteError,
  unless,
  updateText,
  withLock,
} from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { isOwnServer, ownEntryName } from "@fairlead/core/settings";
import { objectOf } from "@fairlead/wire/json";
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
interface ConnectRequest {
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
function overtaken(file: string): HostError {
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

// Undoes `fairlead connect`: restores a client's file byte for byte, or only removes Fairlead's entry from the file.

/** The change that `disconnect` would make to a client's file. */
export type DisconnectPlan =
  /**
   * The file is unchanged since `connect`, so the text from before `connect` is restored. If there was no file before
   * `connect`, the file is removed.
   */
  | { readonly kind: "restore"; readonly text: string; readonly before: string | undefined }
  /** The file does not exist or no longer contains Fairlead's entry. `disconnect` only removes the stored receipt. */
  | { readonly kind: "gone"; readonly text: string | undefined }
  /**
   * The file has changed since `connect`. `after` is the file's text without Fairlead's entry. `wrote` is the text that
   * `connect` wrote, if Fairlead can rebuild it.
   */
  | { readonly kind: "changed"; readonly text: string; readonly after: string; readonly wrote: string | undefined };

/**
 * Plans how to undo `connect`. Writes nothing.
 *
 * @throws HostError if the file has a syntax error or cannot be read
 */
export async function planDisconnect(receipt: Receipt, receipts: ReceiptStore): Promise<DisconnectPlan> {
  const { client, file, entry, moved } = receipt;
  const text = await readClientFile(file);
  if (text === undefined) return { kind: "gone", text };
  const stored = await receipts.textBefore(receipt);
  if (stored !== "lost" && digestOf(text) === receipt.after) return { kind: "restore", text, before: stored.text };
  if (stored !== "lost" && stored.text === text) return { kind: "gone", text };
  const old = stored === "lost" ? text : stored.text;
  const after = await removeOwnEntry(client, file, text, { before: old, name: ownEntryName, moved });
  if (after === text) return { kind: "gone", text };
  /*
   * The receipt of `connect` contains no token, so Fairlead takes the token from the client's file to rebuild the text
   * that `connect` wrote. If the user has changed the token, `wrote` is undefined.
   */
  const { servers } = await openClientText(client, file, text);
  const written = { ...entry, ...tokenIn(servers.get(ownEntryName)?.value) };
  const wrote =
    stored === "lost"
      ? undefined
      : await changeServers(client, file, stored.text, { remove: moved, set: { name: ownEntryName, entry: written } });
  return {
    kind: "changed",
    text,
    after,
    wrote: wrote !== undefined && digestOf(wrote) === receipt.after ? wrote : undefined,
  };
}

function tokenIn(value: unknown): ForeignEntry {
  const own = Object.entries(objectOf(value));
  return Object.fromEntries(own.filter(([key]) => tokenKeys.includes(key)));
}

/**
 * Carries out a plan, then removes the receipt.
 *
 * @throws HostError `busy` if the file has changed since the plan was made
 */
export async function writeDisconnect(receipt: Receipt, plan: DisconnectPlan, receipts: ReceiptStore): Promise<void> {
  const { client, file, folders } = receipt;
  await receipts.lock(client, file, async () => {
    if (plan.kind !== "gone") {
      const after = plan.kind === "restore" ? plan.before : plan.after;
      if (after === undefined) await removeFile(file, plan.text);
      else
        await updateText(
          file,
          (found) => {
            if (found !== plan.text) throw overtaken(file);
            return after;
          },
          { maxBytes: limits.clientFileBytes },
        );
      if (after === undefined) await removeFolders(folders);
    }
    await receipts.remove(receipt);
  });
}

/** Removes a client's file that `connect` created. Refuses if the file no longer contains exactly `text`. */
async function removeFile(path: string, text: string): Promise<void> {
  try {
    const file = await findWritableFile(path);
    await withLock(file, async () => {
      if ((await readClientFile(file)) !== text) throw overtaken(path);
      await rm(file);
    });
  } catch (error) {
    throw toWriteError(path, error);
  }
}

/** Removes the folders that `connect` created, innermost first. Stops at a folder that is not empty. */
async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    const isGone = await rmdir(folder).then(
      () => true,
      // If a folder cannot be removed, it stays. For example, another program may have files in it.
      unless("ENOTEMPTY", "EEXIST", "ENOENT", "EACCES", "EPERM"),
    );
    if (isGone === undefined) return;
  }
}

/**
 * Creates the error for a client's file that has changed since `connect`. With `--force`, `disconnect` ignores the
 * change.
 */
export function changedSince({ client, file }: Receipt): HostError {
  return new HostError(
    "changed",
    `${file} has changed since fairlead connect wrote it, so disconnect did not write to it`,
    { next: `To remove only Fairlead's entry: fairlead disconnect ${client} --force` },
  );
}
