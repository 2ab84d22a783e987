/**
 * Undoes `fairlead connect`: restores a client's file byte for byte, or only removes Fairlead's entry from the file.
 */

import { rm, rmdir } from "node:fs/promises";
import { HostError } from "@fairlead/core/errors";
import { withLock } from "@fairlead/core/files/atomic/lock";
import { updateText } from "@fairlead/core/files/atomic/update-text";
import { findWritableFile } from "@fairlead/core/files/real-path";
import { toWriteError, unless } from "@fairlead/core/files/system-error";
import { limits } from "@fairlead/core/limits";
import { ownEntryName } from "@fairlead/core/settings/own-server";
import { objectOf } from "@fairlead/wire/json";
import { type ForeignEntry, tokenKeys } from "./client.ts";
import { changeServers, openClientText, removeOwnEntry } from "./client-text.ts";
import { overtaken, readClientFile } from "./connect-client.ts";
import { digestOf, type Receipt, type ReceiptStore } from "./receipts.ts";

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
    {
      next: `To remove only Fairlead's entry: fairlead disconnect ${client} --force`,
    },
  );
}
