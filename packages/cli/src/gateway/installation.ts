/**
 * Finds the installed build of Fairlead and its background host. Every relay (a `fairlead serve` process) loads this
 * file at its start, so this file imports as little code as possible.
 */

import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type RunFolder, runFolderOf } from "@fairlead/gateway/relay/run-folder";
import type { HostCommand } from "@fairlead/gateway/relay/start-host";

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
  const { bundle, version, build } = found;
  return {
    folder: runFolderOf({ state, installation: build, temporary: tmpdir(), platform }),
    version,
    command: {
      file: process.execPath,
      args: [join(dirname(bundle), "bin", "fairlead.cjs"), hostWord],
      env,
    },
  };
}

/** Returns the environment of this process. */
export function ownSurroundings(): HostSurroundings {
  return { env: process.env, home: homedir(), platform: process.platform };
}

/** Reads the version and the build from the file `installation` in the bundle. */
function installation(): { readonly bundle: string; readonly version: string; readonly build: string } | undefined {
  const here = typeof __dirname === "string" ? __dirname : "";
  for (const bundle of [here, join(here, "../../bundle")]) {
    const [version, build] = readText(join(bundle, "installation")).trim().split(" ");
    if (version && build) return { bundle, version, build };
  }
  return undefined;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
