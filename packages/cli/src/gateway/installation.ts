/** Which build of the command runs, and where its background host is. Loads nothing: every relay reads this. */

import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type RunFolder, runFolderOf } from "@fairlead/gateway/relay/run-folder";
import type { HostCommand } from "@fairlead/gateway/relay/start-host";

/** The surroundings of a relay, or of a command that talks to the host. */
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

/** The folder of this file: in the bundle a variable of CommonJS. */
declare const __dirname: string | undefined;

/** The word that makes the command a background host. Only Fairlead itself writes it. */
const hostWord = "__host";

/**
 * Finds the background host of the installed command. Reads the installation each time: an update in place gives the
 * next host another folder. Undefined if the command is not built, or if the state folder is not known.
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

/** The surroundings of this process. */
export function ownSurroundings(): HostSurroundings {
  return { env: process.env, home: homedir(), platform: process.platform };
}

/** The bundle has a file with its version and build. */
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
