/**
 * Stores the receipts of `fairlead connect`. With the receipt and the earlier text, `disconnect` can undo a change of a
 * client's file.
 */

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  ensurePrivateFolder,
  privateFileMode,
  readState,
  readText,
  unless,
  updateState,
  updateText,
  withLock,
} from "@fairlead/core/files";
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

/** Returns the SHA-256 of a text in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The receipts in Fairlead's state folder: one for each file that `connect` has changed. */
export class ReceiptStore {
  readonly #folder: string;

  constructor(state: string) {
    this.#folder = join(state, "clients");
  }

  async list(): Promise<readonly Receipt[]> {
    const names = (await readdir(this.#folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
    const files = names.filter((name) => name.endsWith(".json")).map((name) => join(this.#folder, name));
    const found = await Promise.all(files.map((file) => readState(file, parseReceipt)));
    return found.flatMap((receipt) => receipt ?? []).toSorted((a, b) => (a.written < b.written ? -1 : 1));
  }

  read(client: ClientName, file: string): Promise<Receipt | undefined> {
    return readState(`${this.#baseOf({ client, file })}.json`, parseReceipt);
  }

  /**
   * The file's text before `connect`. Undefined if there was no file. `lost` if the stored text does not match the
   * receipt's digest.
   */
  async textBefore(receipt: Receipt): Promise<{ readonly text: string | undefined } | "lost"> {
    if (receipt.before === null) return { text: undefined };
    const found = await readText(`${this.#baseOf(receipt)}.before`, limits.clientFileBytes);
    return found.kind === "text" && digestOf(found.text) === receipt.before ? { text: found.text } : "lost";
  }

  async save(receipt: Receipt, before: string | undefined): Promise<void> {
    const base = this.#baseOf(receipt);
    const options = { mode: privateFileMode, maxBytes: limits.clientFileBytes };
    await ensurePrivateFolder(this.#folder);
    if (before === undefined) await rm(`${base}.before`, { force: true });
    else await updateText(`${base}.before`, () => before, options);
    await updateState(`${base}.json`, parseReceipt, () => receipt);
  }

  async remove(receipt: Pick<Receipt, "client" | "file">): Promise<void> {
    const base = this.#baseOf(receipt);
    await rm(`${base}.json`, { force: true });
    await rm(`${base}.before`, { force: true });
  }

  /** Runs `work` under a lock, so that no other process connects or disconnects this file at the same time. */
  async lock<T>(client: ClientName, file: string, work: () => Promise<T>): Promise<T> {
    await ensurePrivateFolder(this.#folder);
    return withLock(this.#baseOf({ client, file }), work);
  }

  /** The name contains a digest of the path: a client can have several files (CLAUDE_CONFIG_DIR, CODEX_HOME). */
  #baseOf({ client, file }: Pick<Receipt, "client" | "file">): string {
    return join(this.#folder, `${client}-${digestOf(file).slice(0, 12)}`);
  }
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
