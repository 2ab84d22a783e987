/** Finds programs in folders of version managers, which only the user's own shell has on its `PATH`. */

import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProgram } from "@fairlead/core/trust/programs";

/** Relative to the home folder, unless absolute; `*` matches every folder, newest version first. */
const places: readonly (readonly [manager: string, folder: string])[] = [
  ["nvm", ".nvm/versions/node/*/bin"],
  ["fnm", ".local/share/fnm/node-versions/*/installation/bin"],
  ["fnm", "Library/Application Support/fnm/node-versions/*/installation/bin"],
  ["volta", ".volta/bin"],
  ["asdf", ".asdf/shims"],
  ["mise", ".local/share/mise/shims"],
  ["pyenv", ".pyenv/shims"],
  ["bun", ".bun/bin"],
  ["deno", ".deno/bin"],
  ["cargo", ".cargo/bin"],
  ["uv or pipx", ".local/bin"],
  ["Homebrew", "/opt/homebrew/bin"],
  ["Homebrew", "/home/linuxbrew/.linuxbrew/bin"],
];

/** Folders that shell startup files add to `PATH`; programs started without such a shell do not have them. */
const ofShells: readonly (readonly [manager: string, folder: RegExp])[] = [
  ["nvm", /[/\\][.]nvm[/\\]versions[/\\]/],
  ["fnm", /[/\\]fnm_multishells[/\\]|[/\\]fnm[/\\]node-versions[/\\]/],
  ["volta", /[/\\][.]volta[/\\]bin$/],
  ["asdf", /[/\\][.]asdf[/\\]shims$/],
  ["mise", /[/\\]mise[/\\]shims$/],
  ["pyenv", /[/\\][.]pyenv[/\\]shims$/],
];

export interface Managed {
  readonly manager: string;
  /** The real path, because links such as fnm's are temporary. */
  readonly folder: string;
}

/** Returns the version manager's folder that has a command which is not on `PATH`. */
export async function findElsewhere(command: string, home: string): Promise<Managed | undefined> {
  if (command.includes("/")) return undefined;
  for (const [manager, pattern] of places)
    for (const folder of await foldersOf(pattern, home))
      if ((await findProgram(command, folder, home)) !== undefined) return { manager, folder };
  return undefined;
}

/** Returns the version manager whose folder contains the program, if any. */
export async function managerOf(file: string): Promise<Managed | undefined> {
  const folder = dirname(file);
  const manager = ofShells.find(([, pattern]) => pattern.test(folder))?.[0];
  return manager === undefined ? undefined : { manager, folder: await realpath(folder).catch(() => folder) };
}

async function foldersOf(pattern: string, home: string): Promise<readonly string[]> {
  const [before = "", after] = (pattern.startsWith("/") ? pattern : join(home, pattern)).split("*");
  if (after === undefined) return [before];
  // The folder does not exist: this manager is not installed.
  const names = await readdir(before).catch(() => []);
  const newestFirst = names.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return newestFirst.map((name) => join(before, name, after));
}
