/** Runs a program with the same `PATH`, folder and variables that its server would get. */

import { execFile } from "node:child_process";
import { type LaunchContext, planLaunch } from "@fairlead/core/connect/launch";
import { HostError } from "@fairlead/core/errors";
import type { StdioTransport } from "@fairlead/core/settings/define/definition";
import type { Download } from "../output/servers/server-notes.ts";

interface Ran {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

type RunProgram = (program: string, args: readonly string[], stdin?: string) => Promise<Ran>;

/** The server whose `PATH`, folder and variables the program gets, and the signal that stops the program. */
export interface RunOptions {
  readonly serverName: string;
  /** The transport with its variables expanded. */
  readonly transport: StdioTransport;
  readonly launchContext: LaunchContext;
  readonly signal: AbortSignal;
}

const longestRun = 60_000;
const mostBytes = 16 * 1024 * 1024;

/** Creates a function that runs programs in the server's environment and returns their output. */
export function createRunner({ serverName, transport, launchContext, signal }: RunOptions): RunProgram {
  return async (command, args, stdin = "") => {
    const { file, target } = await planLaunch(serverName, { ...transport, command, args }, launchContext);
    const isWindows = launchContext.environment.platform === "win32";
    if (file === undefined && !isWindows)
      throw new HostError("command_not_found", `"${command}" is not on the PATH of "${serverName}"`, {
        serverName,
        next: "fairlead doctor",
      });
    const options = {
      cwd: target.cwd,
      env: { ...target.env },
      signal,
      timeout: longestRun,
      maxBuffer: mostBytes,
      // On Windows, npm is a script that needs a shell. The shell is safe here: no argument has shell characters.
      shell: isWindows && command.endsWith("npm"),
    };
    return new Promise((resolve, reject) => {
      const child = execFile(file ?? command, [...args], options, (error, stdout, stderr) => {
        if (signal.aborted) reject(new HostError("cancelled", "cancelled; nothing was changed"));
        else if (error?.killed === true) reject(tooSlow(command, serverName));
        else resolve({ isDone: error === null, stdout, stderr });
      });
      // Writing fails if the program exits before it reads stdin. The program's own error is reported instead.
      child.stdin?.on("error", () => child.stdin?.destroy());
      child.stdin?.end(stdin);
    });
  };
}

function tooSlow(command: string, serverName: string): HostError {
  return new HostError("unreachable", `${command} timed out after ${longestRun / 1000} s`, {
    serverName,
    next: "try again with a network connection",
  });
}

/** The package whose exact version is to be found, and how the server's entry starts it. */
export interface PinRequest {
  readonly server: string;
  readonly download: Download;
  /** The options of the launcher (such as `npx` or `uvx`) before the package name, with variables expanded. */
  readonly options: readonly string[];
  /** Whether the package name is the value of an option such as `--from`, not an argument of its own. */
  readonly isOption: boolean;
  /** The variables that the launcher (such as `npx`) would get. */
  readonly env: ReadonlyMap<string, string>;
  readonly home: string;
  readonly run: RunProgram;
}

/** The result of a search for an exact version. */
export interface ExactName {
  /**
   * The package name with its exact version, for example `package@1.2.3`. It replaces the package name in the entry.
   */
  readonly name: string;
  /** Explains why this version was chosen, if that is not obvious. */
  readonly note?: string;
}

/**
 * Returns the options of a launcher such as `uvx` that are in `names`, with their values. Leaves out words that contain
 * shell characters.
 */
export function passedOn(options: readonly string[], names: readonly string[]): readonly string[] {
  return options.flatMap((word, at) => {
    if (!/^[\w.:/=@-]+$/.test(word)) return [];
    const isValue = names.includes(options[at - 1] ?? "");
    return isValue || names.includes(word) || names.some((name) => word.startsWith(`${name}=`)) ? [word] : [];
  });
}
