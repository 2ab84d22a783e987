/** Where the companion writes its port file, and the names of its environment variables. */

import { posix, win32 } from "node:path";
import type { Environment } from "../settings/read/paths.ts";

/** The variables that the companion sets in the IDE's integrated terminal. */
export const ideVariables = {
  port: "GEMINI_CLI_IDE_SERVER_PORT",
  workspace: "GEMINI_CLI_IDE_WORKSPACE_PATH",
  token: "GEMINI_CLI_IDE_AUTH_TOKEN",
  /** The id of the IDE's process, if it is not a parent of this process. */
  process: "GEMINI_CLI_IDE_PID",
} as const;

/** The folder of the port files, `gemini/ide` below the system's folder for temporary files. */
export function portFolder({ env, platform }: Pick<Environment, "env" | "platform">): string {
  if (platform === "win32")
    return win32.join(env["TEMP"] || env["TMP"] || `${env["SystemRoot"] || "C:\\Windows"}\\temp`, "gemini", "ide");
  return posix.join(env["TMPDIR"] || env["TMP"] || env["TEMP"] || "/tmp", "gemini", "ide");
}

/** Returns the id of the IDE's process that is part of a port file's name. Undefined for other files. */
export function processOf(name: string): number | undefined {
  // Old companions write no port into the name.
  const [, id] = /^gemini-ide-server-([1-9]\d{0,9})(?:-\d{1,5})?\.json$/.exec(name) ?? [];
  return id === undefined ? undefined : Number(id);
}
