/** Recognises a symbolic link whose target does not exist; the user meant a file to be read there. */

import { lstat, stat } from "node:fs/promises";

export async function leadsNowhere(path: string): Promise<boolean> {
  // The read that follows reports why the path cannot be read.
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return false;
  return stat(path).then(
    () => false,
    () => true,
  );
}
