/** Lists the file names in a folder. This is faster than trying to open many files that do not exist. */

import { readdir } from "node:fs/promises";
import { systemCode } from "./system-error.ts";

/** Answers which files a folder contains. */
export interface FolderNames {
  /**
   * Whether the folder may contain a file with this name. Also true if the folder cannot be listed: opening the file
   * then shows the error.
   */
  mayHave(name: string): Promise<boolean>;
  /** Whether the folder is empty or does not exist. */
  isEmpty(): Promise<boolean>;
}

/** Each call lists the folder again, but simultaneous calls share one listing. */
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
