/** Plans the start of a stdio server: which file, in which folder, with which environment. */

import type { StdioTarget } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { StdioTransport } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { type ChildEnvironment, childEnvironment } from "./child-environment.ts";
import { findProgram, liesIn, systemPath, withoutUntrusted } from "./search-path.ts";

/** Where stdio servers are started. */
export interface LaunchContext {
  readonly environment: Environment;
  /** The workspace root, a real path. */
  readonly root: string;
  readonly trusted: boolean;
}

/** A planned start of a stdio server. */
export interface Launch {
  readonly target: StdioTarget;
  /** The executable file; absent if the command was not found. */
  readonly file?: string;
  readonly droppedPath: readonly string[];
  readonly environment: ChildEnvironment;
}

/**
 * Plans the start of a server. Nothing inside an untrusted workspace is run or used as the working folder.
 *
 * @param transport With expanded variables and secrets.
 * @throws HostError `untrusted_folder`
 */
export async function planLaunch(serverName: string, transport: StdioTransport, place: LaunchContext): Promise<Launch> {
  const { root, trusted, environment } = place;
  // If the workspace is the home folder or above it, every program would be inside it: then nothing is forbidden.
  const forbidden = trusted || (await liesIn(environment.home, root)) ? undefined : root;
  const isForbidden = async (path: string): Promise<boolean> => forbidden !== undefined && liesIn(path, forbidden);

  const cwd = transport.cwd ?? (trusted ? root : environment.home);
  if (await isForbidden(cwd)) throw notTrusted(serverName, `would start in ${cwd}`);
  const child = childEnvironment(environment, transport.env);
  const given = searchPathOf(child.env, environment.platform);
  const { path, dropped } = trusted
    ? { path: given.value, dropped: [] }
    : await withoutUntrusted(given.value, forbidden);
  const file = await findProgram(transport.command, path, cwd);
  if (file !== undefined && (await isForbidden(file))) throw notTrusted(serverName, `would run ${file}`);
  return {
    target: {
      kind: "stdio",
      // The file that was checked is the file that runs, whatever PATH says later.
      command: file ?? transport.command,
      args: transport.args,
      env: { ...child.env, ...(given.name !== undefined && { [given.name]: path }) },
      cwd,
    },
    ...(file !== undefined && { file }),
    droppedPath: dropped,
    environment: child,
  };
}

function searchPathOf(
  env: ChildEnvironment["env"],
  platform: NodeJS.Platform,
): { readonly name?: string; readonly value: string } {
  const name = platform === "win32" ? Object.keys(env).find((key) => key.toUpperCase() === "PATH") : "PATH";
  const value = name === undefined ? undefined : env[name];
  return name === undefined || value === undefined ? { value: systemPath } : { name, value };
}

function notTrusted(serverName: string, what: string): HostError {
  return new HostError("untrusted_folder", `"${serverName}" ${what}, which is in a folder that is not trusted`, {
    serverName,
    next: "fairlead trust add",
  });
}
