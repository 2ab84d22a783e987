/** The machine's bubblewrap, for tests of sandboxes. */

import { execFileSync } from "node:child_process";
import { noteProgram } from "./tested-with.ts";

/** Whether sandboxes can be made here. Prints what is tested with bubblewrap, or that it is absent. */
export function hasBubblewrap(subject: string): boolean {
  const version = versionOf();
  noteProgram(subject, "bubblewrap", version);
  return version !== undefined;
}

/** Undefined if there is no bubblewrap, or if this system lets it make no namespaces. */
function versionOf(): string | undefined {
  try {
    execFileSync("bwrap", ["--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
    return execFileSync("bwrap", ["--version"], { encoding: "utf8" }).replace("bubblewrap", "").trim();
  } catch {
    return undefined;
  }
}
