// Whether what a build wrote is newer than everything that it was made of.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * A build makes its folder when it begins: a file that changed later may not be in it. `inputs` are files and folders with everything in
 * them; a file that was removed has changed its folder. False if the file system does not tell when a folder was made.
 */
export function isBuilt(output, inputs) {
  const begun = statSync(output, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  return begun > 0 && inputs.every((input) => lastChange(input) < begun);
}

function lastChange(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return Number.POSITIVE_INFINITY;
  if (!stat.isDirectory()) return stat.mtimeMs;
  const inside = readdirSync(path, { recursive: true }).map((name) => statSync(join(path, name)).mtimeMs);
  return inside.reduce((latest, each) => Math.max(latest, each), stat.mtimeMs);
}
