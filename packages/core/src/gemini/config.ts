/** The few members of Gemini CLI's configuration objects that this subpath uses. A plain object will do. */

import { aBoolean, aListOfStrings, expectArguments, optional, type Wanted, withMethod } from "../expect-arguments.ts";

/** The program's configuration: whether the workspace is trusted. */
export interface Config {
  isTrustedFolder(): boolean;
}

/** The folders of the workspace. A server without `cwd` starts in the first one. */
export interface WorkspaceContext {
  getDirectories(): readonly string[];
}

/** A configuration that a program may leave out. */
export const aConfig: Wanted = optional(withMethod("isTrustedFolder"));

/** Whether the program trusts the workspace. @throws HostError `usage` if it says neither yes nor no */
export function isTrusted(config: Config): boolean {
  const trusted: unknown = config.isTrustedFolder();
  expectArguments("cliConfig.isTrustedFolder()", { "its result": [trusted, aBoolean] });
  return trusted === true;
}

/** The first folder of the workspace; undefined if there is none. @throws HostError `usage` */
export function workspaceFolder(call: string, workspaceContext: WorkspaceContext | undefined): string | undefined {
  expectArguments(call, { workspaceContext: [workspaceContext, optional(withMethod("getDirectories"))] });
  if (workspaceContext === undefined) return undefined;
  const folders: unknown = workspaceContext.getDirectories();
  expectArguments(`${call}: workspaceContext`, { "getDirectories()": [folders, aListOfStrings] });
  return (folders as readonly string[])[0];
}
