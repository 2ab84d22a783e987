/** Reads the end of a server's log. */

import { readFile } from "node:fs/promises";
import { logPath } from "@fairlead/core/connect";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";

/** Returns the last `most` lines of the log. Returns an empty text if there is no log. */
export async function readLogTail(state: string, server: string, most: number): Promise<SafeText> {
  const path = logPath(state, server);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const lines = text.split("\n").filter((line) => line !== "");
  const before = lines.length > most ? [safe`… ${lines.length - most} earlier lines in ${toSafeLine(path)}`] : [];
  return joinSafe([...before, ...lines.slice(-most).map(toSafeLine)]);
}
