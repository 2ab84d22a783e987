/** Runs a program as its server would be started: on the same `PATH`, in the same folder, with the same variables. */

import { execFile } from "node:child_process";
import { type LaunchContext, planLaunch } from "@fairlead/core/connect/launch";
import { HostError } from "@fairlead/core/errors";
import type { StdioTransport } from "@fairlead/core/settings/define/definition";

interface Ran {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunProgram = (program: string, args: readonly string[], stdin?: string) => Promise<Ran>;

export interface RunOptions {
  readonly serverName: string;
  /** Expanded. */
  readonly transport: StdioTransport;
  readonly place: LaunchContext;
  readonly signal: AbortSignal;
}

const longestRun = 60_000;
const mostBytes = 16 * 1024 * 1024;

export function createRunner({ serverName, transport, place, signal }: RunOptions): RunProgram {
  return async (command, args, stdin = "") => {
    const { file, target } = await planLaunch(serverName, { ...transport, command, args }, place);
    const isWindows = place.environment.platform === "win32";
    if (file === undefined && !isWindows)
      throw new HostError("command_not_found", `"${command}" is not on the PATH that "${serverName}" gets`, {
        serverName,
        next: "fairlead doctor",
      });
    const options = {
      cwd: target.cwd,
      env: { ...target.env },
      signal,
      timeout: longestRun,
      maxBuffer: mostBytes,
      // There npm is a script, which only a shell can run; its arguments are words that mean nothing to one.
      shell: isWindows && command.endsWith("npm"),
    };
    return new Promise((resolve, reject) => {
      const child = execFile(file ?? command, [...args], options, (error, stdout, stderr) => {
        if (signal.aborted) reject(new HostError("cancelled", "cancelled; nothing was changed"));
        else if (error?.killed === true) reject(tooSlow(command, serverName));
        else resolve({ isDone: error === null, stdout, stderr });
      });
      // Who ends without reading has said why.
      child.stdin?.on("error", () => child.stdin?.destroy());
      child.stdin?.end(stdin);
    });
  };
}

function tooSlow(command: string, serverName: string): HostError {
  return new HostError("unreachable", `${command} did not answer within ${longestRun} ms`, {
    serverName,
    next: "Try again when the network is there.",
  });
}
