/** Fairlead as people install it: each way is a folder with the program `fairlead`, to be put on `PATH`. */

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled } from "@fairlead/test-servers";

const run = promisify(execFile);
const scripts = new URL("../../../../scripts/package/", import.meta.url);
const cli = fileURLToPath(new URL("../..", import.meta.url));

export interface Way {
  readonly name: string;
  /** The folder with the program. */
  readonly folder: string;
  /** What a person downloads, or what the folders of the clone hold. */
  readonly bytes: number;
  /** What is installed, for a package that is unpacked: a folder like `/`. */
  readonly root?: string;
  /** The file of a package. */
  readonly file?: string;
}

interface Packing {
  readonly packTarballs: (folder: string) => Promise<void>;
  readonly packExecutable: (folder: string) => Promise<void>;
  readonly packDebian: (folder: string) => Promise<void>;
}

async function pack<Name extends keyof Packing>(file: string, name: Name, folder: string): Promise<void> {
  const script = (await import(new URL(file, scripts).href)) as Packing;
  await script[name](folder);
}

/** What `npm run release` has built: it publishes what the tests have tried. */
export const released: string | undefined = process.env["FAIRLEAD_RELEASE"];
/** To build the executable takes half a minute. */
export const isWhole: boolean = process.platform === "linux" && (released !== undefined || scaled(1, 0) === 1);

/** Returns the folder with the tarballs. `folder` is for those that are packed now. */
export async function tarballsIn(folder: string): Promise<string> {
  if (released !== undefined) return released;
  await pack("tarballs.mjs", "packTarballs", folder);
  return folder;
}

/** The clone, and the tarball's command, which a test has unpacked into `unpacked`. */
export function nodeWays(folder: string, tarballs: string, unpacked: string): readonly Way[] {
  const tarball = readdirSync(tarballs).find((name) => /^fairlead-[0-9].*[.]tgz$/.test(name)) ?? "";
  return [
    { name: "clone", folder: linked(join(folder, "clone"), cli), bytes: sizeOf(join(cli, "bin"), join(cli, "bundle")) },
    { name: "tarball", folder: linked(join(folder, "tarball"), unpacked), bytes: sizeOf(join(tarballs, tarball)) },
  ];
}

/** As npm links a package's program into its folder of programs. */
function linked(folder: string, command: string): string {
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(command, "bin/fairlead.cjs"), join(folder, "fairlead"));
  return folder;
}

/** The single executable and the Debian package, unpacked. */
export async function packedWays(folder: string): Promise<readonly Way[]> {
  const from = released ?? join(folder, "built");
  if (released === undefined) {
    await pack("executable.mjs", "packExecutable", from);
    await pack("debian.mjs", "packDebian", from);
  }
  const find = (pattern: RegExp): string => join(from, readdirSync(from).find((name) => pattern.test(name)) ?? "");
  const [archive, debian] = [find(/^fairlead-.*-linux-.*[.]tar[.]gz$/), find(/[.]deb$/)];
  const [executable, root] = [join(folder, "executable"), join(folder, "debian")];
  mkdirSync(executable);
  await run("tar", ["-xzf", archive, "--strip-components=1", "-C", executable]);
  await run("dpkg", ["-x", debian, root]);
  return [
    { name: "executable", folder: executable, root: executable, bytes: sizeOf(join(executable, "fairlead")) },
    { name: "Debian package", folder: join(root, "usr/bin"), root, file: debian, bytes: sizeOf(debian) },
  ];
}

function sizeOf(...paths: readonly string[]): number {
  return paths.reduce((sum, path) => {
    const inside = statSync(path).isDirectory() ? readdirSync(path).filter((name) => name !== "cache") : [];
    return sum + (inside.length > 0 ? sizeOf(...inside.map((name) => join(path, name))) : statSync(path).size);
  }, 0);
}
