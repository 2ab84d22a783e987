/** Whether one path lies in another. Both must be real paths, or the answer is about names only. */

import { isAbsolute, relative, sep } from "node:path";

/** Whether `path` is `folder` or lies inside it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
