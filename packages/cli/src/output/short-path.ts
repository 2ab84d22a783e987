/** Shortens paths to the form in which people write them. */

import { sep } from "node:path";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";

/** Returns the path with `~` in place of the home folder. */
export function shortPath(path: string, home: string): SafeText {
  if (path === home) return safe`~`;
  return path.startsWith(`${home}${sep}`) ? safe`~${toSafeLine(path.slice(home.length))}` : toSafeLine(path);
}
