/** Reads the settings file of each scope and merges them; an untrusted workspace's file is left out. */

import type { Origin, Scope, Settings } from "../define/definition.ts";
import { merge } from "./merge.ts";
import { childNode, switchOf } from "./nodes.ts";
import type { Environment, Locations } from "./paths.ts";
import { readSource, type SettingsSource, textSource } from "./source.ts";
import { readEnvFiles } from "./variables.ts";

/** Weakest first. */
const scopes: readonly Scope[] = ["system-defaults", "user", "workspace", "system"];

/** What the files say, weakest scope first, before anything is believed. */
export type Sources = readonly SettingsSource[];

/** `userSettings`, as JSON, stands in place of the user's file. */
export async function readSources({ files }: Locations, userSettings?: string): Promise<Sources> {
  const wanted = scopes.flatMap((scope): Promise<SettingsSource>[] => {
    if (scope === "user" && userSettings !== undefined) return [Promise.resolve(textSource(userSettings))];
    const file = files[scope];
    return file === undefined ? [] : [readSource(scope, file)];
  });
  return Promise.all(wanted);
}

/** Every place where a key is written, weakest scope first: what says it, and what is overruled. */
export function whereWritten(sources: Sources, ...path: readonly string[]): readonly Origin[] {
  return sources.flatMap((source) => {
    const node = childNode(source.root, ...path);
    return node === undefined ? [] : [source.originOf(node)];
  });
}

/** `security.folderTrust.enabled`. A workspace has no say in whether it is trusted. */
export function folderTrustEnabled(sources: Sources): boolean {
  const said = sources
    .filter(({ scope }) => scope !== "workspace")
    .map(({ root }) => switchOf(childNode(root, "security", "folderTrust", "enabled")));
  return said.findLast((value) => value !== undefined) ?? true;
}

export interface MergeOptions {
  readonly locations: Locations;
  readonly environment: Environment;
  /** Whether the workspace's settings and `.env` files count. */
  readonly trusted: boolean;
}

/** Settings of which a program has only the text: no file counts beside it, and no `.env` file. */
export async function mergeText(text: string, environment: Environment): Promise<Settings> {
  const envFiles = { user: new Map<string, string>(), workspace: new Map<string, string>(), problems: [] };
  return merge([textSource(text)], { trusted: true, lookup: { environment, root: environment.cwd, envFiles } });
}

export async function mergeSettings(
  sources: Sources,
  { locations, environment, trusted }: MergeOptions,
): Promise<Settings> {
  const envFiles = await readEnvFiles(locations, trusted);
  return merge(sources, { trusted, lookup: { environment, root: locations.root, envFiles } });
}
