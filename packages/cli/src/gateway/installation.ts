/**
 * Finds the installed build of Fairlead and its background host. Every relay (a `fairlead serve` process) loads this
 * file at its start, so this file imports as little code as possible.
 */

import { readFileSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type RunFolder, runFolderOf } from "@fairlead/gateway/relay/run-folder";
import type { HostCommand } from "@fairlead/gateway/relay/start-host";
import { isSingleExecutable, version as ownVersion } from "../shell/version.ts";

/** The process environment of a relay, or of a command that talks to the background host. */
export interface HostSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** Where the background host of this installation runs, and how to start it. */
export interface HostPlace {
  readonly folder: RunFolder;
  readonly version: string;
  readonly command: HostCommand;
}

/** The folder of this file. Only the bundle has this variable, because the bundle is a CommonJS module. */
declare const __dirname: string | undefined;

/** The argument that makes `fairlead` run as a background host. Only Fairlead itself passes it. */
const hostWord = "__host";

/**
 * Finds the background host of the installed build. Returns undefined if Fairlead is not built, or if
 * `FAIRLEAD_HOME` is not absolute. Reads the version on every call, because an update may replace the build while this
 * process runs.
 */
export function hostPlace({ env, home, platform }: HostSurroundings): HostPlace | undefined {
  const state = env["FAIRLEAD_HOME"] || join(home, ".fairlead");
  const found = installation();
  if (found === undefined || !isAbsolute(state)) return undefined;
  const { version, build, args } = found;
  return {
    folder: runFolderOf({ state, installation: build, temporary: tmpdir(), platform }),
    version,
    command: {
      file: process.execPath,
      args: [...args, hostWord],
      env,
      platform,
    },
  };
}

/** Returns the environment of this process. */
export function ownSurroundings(): HostSurroundings {
  return { env: process.env, home: homedir(), platform: process.platform };
}

interface Installation {
  readonly version: string;
  readonly build: string;
  /** The arguments with which `process.execPath` runs Fairlead. */
  readonly args: readonly string[];
}

/** Reads the version and the build from the file `installation` in the bundle. */
function installation(): Installation | undefined {
  if (isSingleExecutable()) return executable();
  const here = typeof __dirname === "string" ? __dirname : "";
  for (const bundle of [here, join(here, "../../bundle")]) {
    const [version, build] = readText(join(bundle, "installation")).trim().split(" ");
    if (version && build) return { version, build, args: [join(dirname(bundle), "bin", "fairlead.cjs")] };
  }
  return undefined;
}

/** The file that is started next may be newer than this process, so the file's metadata tells builds apart. */
function executable(): Installation | undefined {
  const file = statSync(process.execPath, { throwIfNoEntry: false });
  if (file === undefined) return undefined;
  const build = [file.ino, Math.floor(file.mtimeMs), file.size].map((number) => number.toString(36)).join("x");
  return { version: ownVersion(), build, args: [] };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
