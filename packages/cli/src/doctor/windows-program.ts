/** Finds a command on Windows, where the file extension decides whether it can be started. */

import { stat } from "node:fs/promises";
import { win32 } from "node:path";

export interface WindowsProgram {
  readonly file?: string;
  /** A PowerShell script, which cannot be started as a program. */
  readonly script?: string;
}

type IsFile = (path: string) => Promise<boolean>;

export async function findOnWindows(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  isFile: IsFile = isRegularFile,
): Promise<WindowsProgram> {
  const value = (name: string): string | undefined =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
  const endings = (value("PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");
  const hasEnding = endings.includes(win32.extname(command).toLowerCase());
  const folders = /[/\\]/.test(command) ? [""] : (value("PATH") ?? "").split(";").filter((folder) => folder !== "");
  let script: string | undefined;
  for (const folder of folders) {
    const path = folder === "" ? command : win32.join(folder, command);
    for (const ending of hasEnding ? [""] : endings)
      if (await isFile(`${path}${ending}`)) return { file: `${path}${ending}` };
    const other = path.toLowerCase().endsWith(".ps1") ? path : `${path}.ps1`;
    if (script === undefined && (await isFile(other))) script = other;
  }
  return script === undefined ? {} : { script };
}

async function isRegularFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
