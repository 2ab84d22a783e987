/** Reads the settings file of each scope and merges the settings. Leaves out the file of an untrusted workspace. */

import type { Origin, Scope, Settings } from "../define/definition.ts";
import { merge } from "./merge.ts";
import { childNode, switchOf } from "./nodes.ts";
import type { Environment, Locations } from "./paths.ts";
import { readSource, type SettingsSource, textSource } from "./source.ts";
import { readEnvFiles } from "./variables.ts";

/** All scopes, weakest first. */
const scopes: readonly Scope[] = ["system-defaults", "user", "workspace", "system"];

/** The parsed settings files, weakest scope first, before validation. */
export type Sources = readonly SettingsSource[];

/** Reads the settings files. `userSettings` is JSON that replaces the user's file. */
export async function readSources({ files }: Locations, userSettings?: string): Promise<Sources> {
  const wanted = scopes.flatMap((scope): Promise<SettingsSource>[] => {
    if (scope === "user" && userSettings !== undefined) return [Promise.resolve(textSource(userSettings))];
    const file = files[scope];
    return file === undefined ? [] : [readSource(scope, file)];
  });
  return Promise.all(wanted);
}

/** The position of a key in each file that sets it, weakest scope first. */
export function whereWritten(sources: Sources, ...path: readonly string[]): readonly Origin[] {
  return sources.flatMap((source) => {
    const node = childNode(source.root, ...path);
    return node === undefined ? [] : [source.originOf(node)];
  });
}

/** The value of `security.folderTrust.enabled`. */
export function folderTrustEnabled(sources: Sources): boolean {
  return isOn(sources, "security", "folderTrust", "enabled");
}

/** The value of `ide.enabled`: whether the IDE may decide if the folder is trusted. */
export function ideEnabled(sources: Sources): boolean {
  return isOn(sources, "ide", "enabled");
}

/** A switch about trust. Ignores the workspace's file, because a workspace must not decide whether it is trusted. */
function isOn(sources: Sources, ...path: readonly string[]): boolean {
  const said = sources
    .filter(({ scope }) => scope !== "workspace")
    .map(({ root }) => switchOf(childNode(root, ...path)));
  return said.findLast((value) => value !== undefined) ?? true;
}

/** Where the settings and `.env` files are, and whether the workspace is trusted. */
export interface MergeOptions {
  readonly locations: Locations;
  readonly environment: Environment;
  /** Whether the workspace's settings and `.env` files apply. */
  readonly trusted: boolean;
}

/** Merges settings from one text, without any settings file or `.env` file. */
export async function mergeText(text: string, environment: Environment): Promise<Settings> {
  const envFiles = { user: new Map<string, string>(), workspace: new Map<string, string>(), problems: [] };
  return merge([textSource(text)], { trusted: true, lookup: { environment, root: environment.cwd, envFiles } });
}

/** Validates and merges the settings files. Also reads the `.env` files, to look up variables. */
export async function mergeSettings(
  sources: Sources,
  { locations, environment, trusted }: MergeOptions,
): Promise<Settings> {
  const envFiles = await readEnvFiles(locations, trusted);
  return merge(sources, { trusted, lookup: { environment, root: locations.root, envFiles } });
}
