/**
 * Finds the installed build of the command and its background host. Imports nothing else, because every relay loads
 * this file.
 */

import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type RunFolder, runFolderOf } from "@fairlead/gateway/relay/run-folder";
import type { HostCommand } from "@fairlead/gateway/relay/start-host";

/** The environment of a relay, or of a command that talks to the host. */
export interface HostSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** The background host of this installation. */
export interface HostPlace {
  readonly folder: RunFolder;
  readonly version: string;
  /** Starts the host. */
  readonly command: HostCommand;
}

/** The folder of this file; in the bundle, a variable of CommonJS. */
declare const __dirname: string | undefined;

/** The argument that makes the command a background host. Only Fairlead itself uses it. */
const hostWord = "__host";

/**
 * Finds the background host of the installed command. Reads the installation each time, because after an update in
 * place the next host has another folder. Undefined if the command is not built, or if the state folder is unknown.
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

/** The environment of this process. */
export function ownSurroundings(): HostSurroundings {
  return { env: process.env, home: homedir(), platform: process.platform };
}

/** The bundle contains a file with its version and build. */
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
