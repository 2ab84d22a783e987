/**
 * Stores the receipts of `fairlead connect`. With the receipt and the earlier text, `disconnect` can undo a change of a
 * client's file.
 */

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "@fairlead/core/files/atomic/lock";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { readState, updateState } from "@fairlead/core/files/atomic/state-file";
import { updateText } from "@fairlead/core/files/atomic/update-text";
import { readText } from "@fairlead/core/files/read-text";
import { unless } from "@fairlead/core/files/system-error";
import { limits } from "@fairlead/core/limits";
import { isObject } from "@fairlead/wire/json";
import { type ClientName, type ForeignEntry, isClientName } from "./client.ts";

/** Describes one change of a client's file, so that `disconnect` can undo the change. */
export interface Receipt {
  readonly client: ClientName;
  readonly file: string;
  /** The digest of the file's text before `connect`. Null if the file did not exist. */
  readonly before: string | null;
  /** The digest of the text that `connect` wrote. */
  readonly after: string;
  readonly entry: ForeignEntry;
  /** Names of the servers that `connect --replace` moved from the client's file to Fairlead's settings. */
  readonly moved: readonly string[];
  /** Folders that `connect` created for the file, outermost first. */
  readonly folders: readonly string[];
  /** When `connect` wrote the file, in ISO 8601. */
  readonly written: string;
}

/** The receipts on disk: one for each file that `connect` has changed. */
export interface ReceiptStore {
  list(): Promise<readonly Receipt[]>;
  read(client: ClientName, file: string): Promise<Receipt | undefined>;
  /**
   * The file's text before `connect`. Undefined if there was no file. `lost` if the stored text does not match the
   * receipt's digest.
   */
  textBefore(receipt: Receipt): Promise<{ readonly text: string | undefined } | "lost">;
  save(receipt: Receipt, before: string | undefined): Promise<void>;
  remove(receipt: Pick<Receipt, "client" | "file">): Promise<void>;
  /** Runs `work` under a lock, so that no other process connects or disconnects this file at the same time. */
  lock<T>(client: ClientName, file: string, work: () => Promise<T>): Promise<T>;
}

/** Returns the SHA-256 of a text in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Opens the receipts in Fairlead's state folder. */
export function openReceipts(state: string): ReceiptStore {
  const folder = join(state, "clients");
  // The name contains a digest of the path, because a client can have several files (CLAUDE_CONFIG_DIR, CODEX_HOME).
  const baseOf = ({ client, file }: Pick<Receipt, "client" | "file">): string =>
    join(folder, `${client}-${digestOf(file).slice(0, 12)}`);
  const read = (path: string): Promise<Receipt | undefined> => readState(path, parseReceipt);

  return {
    async list() {
      const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
      const found = await Promise.all(
        names.filter((name) => name.endsWith(".json")).map((name) => read(join(folder, name))),
      );
      return found.flatMap((receipt) => receipt ?? []).toSorted((a, b) => (a.written < b.written ? -1 : 1));
    },
    read: (client, file) => read(`${baseOf({ client, file })}.json`),
    async textBefore(receipt) {
      if (receipt.before === null) return { text: undefined };
      const found = await readText(`${baseOf(receipt)}.before`, limits.clientFileBytes);
      return found.kind === "text" && digestOf(found.text) === receipt.before ? { text: found.text } : "lost";
    },
    async save(receipt, before) {
      const base = baseOf(receipt);
      await ensurePrivateFolder(folder);
      if (before === undefined) await rm(`${base}.before`, { force: true });
      else
        await updateText(`${base}.before`, () => before, {
          mode: privateFileMode,
          maxBytes: limits.clientFileBytes,
        });
      await updateState(`${base}.json`, parseReceipt, () => receipt);
    },
    async remove(receipt) {
      const base = baseOf(receipt);
      await rm(`${base}.json`, { force: true });
      await rm(`${base}.before`, { force: true });
    },
    async lock(client, file, work) {
      await ensurePrivateFolder(folder);
      return withLock(baseOf({ client, file }), work);
    },
  };
}

function parseReceipt(value: unknown): Receipt | undefined {
  if (!isObject(value)) return undefined;
  const { client, file, before, after, entry, moved, folders, written } = value;
  const isWhole =
    typeof client === "string" &&
    isClientName(client) &&
    typeof file === "string" &&
    (before === null || typeof before === "string") &&
    typeof after === "string" &&
    typeof written === "string" &&
    isObject(entry) &&
    isTexts(moved) &&
    isTexts(folders);
  return isWhole ? { client, file, before, after, entry, moved, folders, written } : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
