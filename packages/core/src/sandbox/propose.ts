/** Proposes what a program may see in its sandbox: the files and folders that its entry names. */

import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../files/real-path.ts";
import type { StdioTransport } from "../settings/define/definition.ts";
import { findDownload } from "./download.ts";
import { systemFolderOf } from "./listed-paths.ts";
import { isOfSystem, nearestManifest, scriptIn } from "./program-files.ts";

/** An entry, and the folders that its words begin at. */
export interface ProposalSubject {
  /** The transport with its variables filled in. Secrets may be missing. */
  readonly transport: StdioTransport;
  /** The folder in which the program starts. */
  readonly cwd: string;
  readonly home: string;
  /** Fairlead's state folder, which no sandbox shows. */
  readonly state: string;
  /** The folder at which relative paths of the profile begin. Absent in the user's settings: paths are then absolute. */
  readonly folder?: string | undefined;
}

/** A file or folder that the program may need. */
export interface ProposedPath {
  /** How the profile names it: `~/notes`, `./docs` or an absolute path. */
  readonly written: string;
  /** `package`: the folder of the program's own package, with the libraries in it. */
  readonly kind: "file" | "folder" | "package";
  /** Whether it contains the user's home or more: a sandbox that shows it protects little. */
  readonly isBroad: boolean;
}

/** Words after which a list of proposals ends. An entry with more paths is better written by hand. */
const mostPaths = 16;

/** Finds files and folders among the entry's arguments, its variables and its working folder. Only what exists. */
export async function proposePaths(subject: ProposalSubject): Promise<readonly ProposedPath[]> {
  const { transport, cwd } = subject;
  const { command, args, env } = transport;
  // The words up to the package are for the program that fetches it.
  const ofProgram = args.slice((findDownload(command, args)?.at ?? -1) + 1);
  const values = [
    ...ofProgram.map((word) => /^--?[\w.-]+=(.+)$/s.exec(word)?.[1] ?? word).filter((word) => !word.startsWith("-")),
    ...[...env.values()].filter((value) => isAbsolute(value)),
    ...(transport.cwd === undefined ? [] : [transport.cwd]),
  ];
  const found = new Map<string, ProposedPath>();
  for (const value of values) {
    const script = await scriptIn(value, cwd);
    const proposed =
      script === undefined ? await existing(resolve(cwd, value), subject) : await packageOf(script, subject);
    if (proposed !== undefined && found.size < mostPaths) found.set(proposed.written, proposed);
  }
  return [...found.values()];
}

async function existing(path: string, subject: ProposalSubject): Promise<ProposedPath | undefined> {
  if (path.length > 4096 || /[\0\r\n]/.test(path)) return undefined;
  const real = await realpath(path).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real === undefined || found === undefined || !(found.isFile() || found.isDirectory())) return undefined;
  const isClosed = systemFolderOf(real) !== undefined || isInside(real, subject.state);
  if (real === "/" || isOfSystem(real) || isClosed) return undefined;
  return {
    written: writtenAs(path, subject),
    kind: found.isDirectory() ? "folder" : "file",
    isBroad: isInside(subject.home, real) || isInside(await realpath(subject.home).catch(() => subject.home), real),
  };
}

/** The folder of a script's package, if its libraries are in it. */
async function packageOf(script: string, subject: ProposalSubject): Promise<ProposedPath | undefined> {
  const manifest = await nearestManifest(dirname(script), subject.home);
  if (manifest === undefined) return undefined;
  const folder = dirname(manifest);
  const libraries = await stat(join(folder, "node_modules")).catch(() => undefined);
  const found = libraries?.isDirectory() ? await existing(folder, subject) : undefined;
  return found && { ...found, kind: "package" };
}

function writtenAs(path: string, { home, folder }: ProposalSubject): string {
  if (folder !== undefined && isInside(path, folder))
    return path === folder ? "." : `./${path.slice(folder.length + 1)}`;
  if (home !== "/" && isInside(path, home)) return path === home ? "~" : `~${path.slice(home.length)}`;
  return path;
}
