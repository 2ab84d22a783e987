/** How this command is called where the person is: commands that are shown must work when typed. */

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Io } from "./io.ts";

export async function commandWord({ env, platform }: Pick<Io, "env" | "platform">): Promise<SafeText> {
  // Under npm the PATH has folders that the person's shell does not have.
  if (env["npm_lifecycle_event"] !== undefined) return safe`npx fairlead`;
  const isWindows = platform === "win32";
  const folders = (env["PATH"] ?? "").split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  const found = await Promise.all(
    folders.map((folder) => isExecutable(join(folder, isWindows ? "fairlead.cmd" : "fairlead"))),
  );
  return found.includes(true) ? safe`fairlead` : safe`npx fairlead`;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
