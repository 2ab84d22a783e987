/**
 * Watches temporary folders. The test that creates a folder must remove it, and nothing may be written into it
 * afterwards.
 */

import { existsSync } from "node:fs";
import { currentScope, watch } from "./scope.ts";

/** The folders that were removed while this test file ran, each with the test that created it. */
const removed = new Map<string, string>();

/** Call this for each new folder. Call the returned function when the folder is removed. */
export function watchFolder(path: string): () => void {
  const scope = currentScope();
  if (scope === undefined) return () => {};
  let isRemoved = false;
  watch({
    describe: () => (isRemoved ? `a file: written into ${path} after it was removed` : `a temporary folder: ${path}`),
    isOver: () => isRemoved && !existsSync(path),
    endsLater: false,
  });
  return () => {
    isRemoved = true;
    removed.set(path, scope.name);
  };
}

/** Returns the removed folders that exist again, each with the test that created it, and forgets them. */
export function writtenAfterRemoval(): readonly string[] {
  const again = [...removed].filter(([path]) => existsSync(path));
  removed.clear();
  return again.map(([path, test]) => `a file: written into ${path} after it was removed (a folder of "${test}")`);
}
