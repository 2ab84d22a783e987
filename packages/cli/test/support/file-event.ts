/** Waiting for what another program writes down. */

import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Resolves when the file's text is as wanted; its folder must exist, the file need not yet. */
export async function untilWritten(file: string, isWanted: (text: string) => boolean): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const text = await readFile(file, "utf8").catch(() => undefined);
    return text !== undefined && isWanted(text);
  };
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      isThere().then((is) => {
        if (!is) return;
        watcher.close();
        resolve();
      }, reject);
    };
    const watcher = watch(dirname(file), (_event, name) => {
      if (name === basename(file)) look();
    });
    // It may have been written before anything watched.
    look();
  });
}
