/** Watches temporary folders: each is removed by the test that made it, and nothing is written into it afterwards. */

import { existsSync } from "node:fs";
import { currentScope, watch } from "./scope.ts";

/** Of the file that runs: every folder that was removed, and the test that made it. */
const removed = new Map<string, string>();

/** To be called with each new folder; the answer is to be called when it is removed. */
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

/** The removed folders that are there again, with the test that made each; they are then forgotten. */
export function writtenAfterRemoval(): readonly string[] {
  const again = [...removed].filter(([path]) => existsSync(path));
  removed.clear();
  return again.map(([path, test]) => `a file: written into ${path} after it was removed (a folder of "${test}")`);
}
