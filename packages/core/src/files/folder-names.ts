/** Lists the file names in a folder, so that Fairlead does not try to open many files that do not exist. */

import { readdir } from "node:fs/promises";
import { systemCode } from "./system-error.ts";

export interface FolderNames {
  /**
   * Whether the folder may contain a file with this name. Also true if the folder cannot be listed: then reading the
   * file reports why.
   */
  mayHave(name: string): Promise<boolean>;
  /** Whether the folder is empty or does not exist. */
  isEmpty(): Promise<boolean>;
}

/** Returns functions that list the folder at each call. Calls at the same time share one listing. */
export function createFolderNames(folder: string): FolderNames {
  let listing: Promise<ReadonlySet<string> | undefined> | undefined;

  async function list(): Promise<ReadonlySet<string> | undefined> {
    try {
      return new Set(await readdir(folder));
    } catch (error) {
      return systemCode(error) === "ENOENT" ? new Set() : undefined;
    } finally {
      listing = undefined;
    }
  }

  const names = (): Promise<ReadonlySet<string> | undefined> => (listing ??= list());
  return {
    mayHave: async (name) => (await names())?.has(name) ?? true,
    isEmpty: async () => (await names())?.size === 0,
  };
}
