/**
 * Finds the files that a program needs to start: the program, its interpreter with its installation, and the scripts
 * named in its arguments. A sandbox shows them read-only.
 */

import { open, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../files/real-path.ts";
import { findProgram } from "../trust/programs.ts";

/** Folders of the system, which every sandbox shows as they are. */
export const systemFolders: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/lib32",
  "/libx32",
  "/nix/store",
  "/gnu/store",
];

/** A program as it would start without a sandbox. */
export interface PlannedProgram {
  /** The executable file. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** `PATH` of the program. */
  readonly searchPath: string;
  readonly home: string;
}

/** What a sandbox shows of a program. */
export interface ProgramFiles {
  /** Files and folders to show, each at its own path. Those of the system are not listed. */
  readonly shown: readonly string[];
  /** Links to create: from the path that the program is called by, to the file behind it. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Whether Node runs the program. */
  readonly isNode: boolean;
  /** Whether an argument names a script by a path relative to the working folder. */
  readonly usesWorkingFolder: boolean;
}

/** How many interpreters can follow each other: a script of an interpreter that is a script itself. */
const interpreters = 4;

/** Finds the files of a program. What does not exist is left out: the program then fails as it would without a sandbox. */
export async function findProgramFiles(program: PlannedProgram): Promise<ProgramFiles> {
  const shown = new Set<string>();
  const links = new Map<string, string>();
  let isNode = false;

  async function showProgram(file: string, depth: number): Promise<void> {
    const real = await realpath(file).catch(() => undefined);
    if (real === undefined) return;
    isNode ||= /^node(?:js)?\d*$/.test(basename(real));
    if (!isOfSystem(real)) for (const path of await installationOf(real, program.home)) shown.add(path);
    if (real !== file && !isOfSystem(file)) links.set(file, real);
    const interpreter = depth < interpreters ? await interpreterOf(real, program) : undefined;
    if (interpreter !== undefined) await showProgram(interpreter, depth + 1);
  }

  await showProgram(program.file, 0);
  let usesWorkingFolder = false;
  for (const argument of program.args) {
    const script = await scriptIn(argument, program.cwd);
    if (script === undefined) continue;
    usesWorkingFolder ||= !isAbsolute(argument);
    if (isOfSystem(script)) continue;
    shown.add(script);
    const manifest = await nearestManifest(dirname(script), program.home);
    if (manifest !== undefined) shown.add(manifest);
  }
  return {
    shown: [...shown],
    links: [...links].map(([path, target]) => ({ path, target })),
    isNode,
    usesWorkingFolder,
  };
}

/** Whether a path lies in a folder that every sandbox shows. */
export function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => isInside(path, folder));
}

/** The installation that a program belongs to, if it is one of Node or Python. Otherwise the file alone. */
async function installationOf(file: string, home: string): Promise<readonly string[]> {
  const prefix = dirname(dirname(file));
  // A program of pyenv, rbenv or asdf is a script that runs the version manager, which finds the version in its folder.
  if (basename(dirname(file)) === "shims" && !isInside(home, prefix)) return [prefix];
  const isOwnFolder = basename(dirname(file)) === "bin" && !isInside(home, prefix) && prefix !== join(home, ".local");
  if (!isOwnFolder) return [file];
  const environment = await readFile(join(prefix, "pyvenv.cfg"), "utf8").catch(() => undefined);
  if (environment !== undefined) {
    // A virtual environment of Python has its programs here, and its interpreter elsewhere.
    const base = /^home\s*=\s*(.+)$/m.exec(environment)?.[1]?.trim();
    const python = base && (await realpath(join(base, "python3")).catch(() => undefined));
    return [prefix, ...(python && !isOfSystem(python) ? await installationOf(python, home) : [])];
  }
  const isInstallation =
    (await isFile(join(prefix, "bin", "node"))) ||
    /^python[\d.]*$/.test(basename(file)) ||
    (await isFile(join(prefix, "bin", "python3")));
  return isInstallation ? [prefix] : [file];
}

/** The interpreter that the first line of a script names. */
async function interpreterOf(file: string, { searchPath, cwd }: PlannedProgram): Promise<string | undefined> {
  const line = await firstLine(file);
  if (!line.startsWith("#!")) return undefined;
  const words = line.slice(2).trim().split(/\s+/);
  const [interpreter = ""] = words;
  if (basename(interpreter) !== "env") return isAbsolute(interpreter) ? interpreter : undefined;
  const name = words.slice(1).find((word) => !word.startsWith("-") && !word.includes("="));
  return name === undefined ? undefined : findProgram(name, searchPath, cwd);
}

async function firstLine(file: string): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString("latin1", 0, bytesRead).split("\n", 1)[0] ?? "";
  } finally {
    await handle.close();
  }
}

const scriptNames = /\.(?:[cm]?[jt]s|py|pyz|rb|pl|sh|php|lua|jar|wasm)$/i;

/** The script that an argument names. Undefined if it names none: other files are shown only if the profile lists them. */
export async function scriptIn(argument: string, cwd: string): Promise<string | undefined> {
  if (argument.startsWith("-") || !scriptNames.test(argument)) return undefined;
  const path = resolve(cwd, argument);
  return (await isFile(path)) ? path : undefined;
}

/** The `package.json` that tells Node whether a script is a module. Never one of the home folder or above it. */
export async function nearestManifest(folder: string, home: string): Promise<string | undefined> {
  if (isInside(home, folder) || dirname(folder) === folder) return undefined;
  const manifest = join(folder, "package.json");
  return (await isFile(manifest)) ? manifest : nearestManifest(dirname(folder), home);
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
