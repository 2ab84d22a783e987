/** Whether something is there that leads to nothing: a link whose target is gone. Who put it there meant a file to count. */

import { lstat, stat } from "node:fs/promises";

export async function leadsNowhere(path: string): Promise<boolean> {
  // Why something cannot be looked at is for who reads it.
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
