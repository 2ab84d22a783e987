/** Where a path really leads, also one of which not every part exists yet. */

import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** The real path of the deepest part that exists, with the rest as written. */
export async function realPathOf(path: string): Promise<string> {
  const written = resolve(path);
  const real = await realpath(written).catch(() => undefined);
  if (real !== undefined || dirname(written) === written) return real ?? written;
  return join(await realPathOf(dirname(written)), basename(written));
}
