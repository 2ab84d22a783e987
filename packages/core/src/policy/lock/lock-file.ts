/**
 * The lock file `mcp.lock`. It lists the reviewed servers of a workspace, in a form that `git diff` shows line by line.
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { leadsNowhere } from "../../files/real-path.ts";
import { notRead } from "../../files/system-error.ts";
import { limits } from "../../limits.ts";
import type { Catalog, CatalogPrompt } from "../../server/catalog.ts";
import { definitionDigest } from "../../server/tool-changes.ts";
import type { Locations } from "../../settings/read/paths.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { toShellWord } from "../../text/shell-word.ts";

/** The locked catalog of a server. It contains a digest for each prompt and each tool. */
export interface LockedCatalog {
  /**
   * The package with its exact version, such as `npm:name@1.2.0`, if the entry names one. Otherwise `reported:` with
   * the name and the version that the server reports.
   */
  readonly version?: string;
  readonly instructions?: string;
  readonly prompts: ReadonlyMap<string, string>;
  readonly tools: ReadonlyMap<string, string>;
  /**
   * The digest of each skill with all its files, by URI; `dynamic` if the server generates them. Absent if the server has
   * no skills, or if an earlier version wrote the file.
   */
  readonly skills?: ReadonlyMap<string, string> | undefined;
}

/** A server in the lock file: its entry in the settings, and its catalog. */
export interface LockedServer extends LockedCatalog {
  /** The entry as written in the settings, without `description` and secrets. */
  readonly entry: JsonObject;
}

/** The lock file: its servers by name. */
export type LockFile = ReadonlyMap<string, LockedServer>;

const schemaVersion = 1;

/** The path of the lock file, in the folder of the workspace's settings. Undefined if there is no workspace. */
export function lockPath({ files }: Pick<Locations, "files">): string | undefined {
  return files.workspace === undefined ? undefined : join(dirname(files.workspace), "mcp.lock");
}

/**
 * Reads the lock file. Undefined if there is none. Does not verify the checksum of the server `replaced`, because the
 * caller is about to lock this server again.
 *
 * @throws HostError `settings_invalid` if the lock file is not valid
 */
export async function readLock(file: string, replaced?: string): Promise<LockFile | undefined> {
  const found = await readText(file, limits.settingsBytes);
  switch (found.kind) {
    case "absent":
      if (await leadsNowhere(file)) throw unusable(file, "the file is a broken symbolic link");
      return undefined;
    case "unreadable":
      throw notRead(file, found.reason, found.cause);
    case "text":
      return parseLock(found.text, file, replaced);
  }
}

/** Parses the text of a lock file. @throws HostError `settings_invalid` */
export function parseLock(text: string, file: string, replaced?: string): LockFile {
  const document = parseDocument(text, file);
  const servers = [...membersOf(document["servers"], file)].map(([name, value]) => {
    const locked = toServer(value, file);
    if (name !== replaced && member(value, "checksum") !== checksumOf(name, locked)) throw editedByHand(name, file);
    return [name, locked] as const;
  });
  const names = servers.map(([name]) => name);
  const isWhole = (set: readonly string[]): boolean => member(document, "checksum") === namesChecksum(set);
  const without = names.filter((name) => name !== replaced);
  if (!isWhole(names) && (replaced === undefined || ![without, [...without, replaced]].some(isWhole)))
    throw unusable(file, "a server was added or removed by hand or by a merge");
  return new Map(servers);
}

/**
 * Refuses a lock file that a newer Fairlead wrote, so that this version does not overwrite it. @throws HostError
 * `settings_invalid`
 */
export function refuseNewer(text: string, file: string): void {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The file is not a lock file, so it may be overwritten.
    return;
  }
  throwIfNewer(document, file);
}

/**
 * Writes the lock file as text. Everything is sorted, with one item on each line, so that equal servers give equal
 * text.
 */
export function lockText(lock: LockFile): string {
  const servers = sorted(lock).map(([name, locked]) => {
    const { entry, ...catalog } = toPlain(locked);
    return [name, { entry: sortMembers(entry), ...catalog, checksum: checksumOf(name, locked) }] as const;
  });
  const checksum = namesChecksum([...lock.keys()]);
  return `${JSON.stringify({ schemaVersion, servers: Object.fromEntries(servers), checksum }, undefined, 2)}\n`;
}

/**
 * The digest of a tool's locked definition. Undefined if the server is not in the lock file, and `none` if only the
 * tool is not.
 */
export function lockedDigest(lock: LockFile, server: string, tool: string): string | undefined {
  const locked = lock.get(server);
  return locked && (locked.tools.get(tool) ?? "none");
}

/**
 * A locked server as an object for JSON. Uses `fromEntries`, because a tool may be named `__proto__`. Assigning to that
 * key would set the prototype.
 */
function toPlain({ entry, version, instructions, prompts, tools, skills }: LockedServer): JsonObject {
  return {
    entry,
    version,
    instructions,
    prompts: Object.fromEntries(sorted(prompts)),
    tools: Object.fromEntries(sorted(tools)),
    skills: skills && Object.fromEntries(sorted(skills)),
  };
}

/**
 * The checksum of a locked server. It detects accidental edits and wrong merges, but not an attacker, who can compute
 * the checksum too.
 */
function checksumOf(name: string, locked: LockedServer): string {
  return createHash("sha256")
    .update(canonicalJson([name, toPlain(locked)]))
    .digest("hex");
}

/** The checksum of all server names. It detects that a server was removed from the file by accident. */
function namesChecksum(names: readonly string[]): string {
  return createHash("sha256").update(canonicalJson(names.toSorted())).digest("hex");
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name])]));
}

function parseDocument(text: string, file: string): JsonObject {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    const why = /^[<=>|]{7}/m.test(text) ? "the file contains merge conflict markers" : "the file is not JSON";
    throw unusable(file, why, cause);
  }
  throwIfNewer(document, file);
  if (!isObject(document) || member(document, "schemaVersion") !== schemaVersion)
    throw unusable(file, `"schemaVersion" must be ${schemaVersion}`);
  return document;
}

function throwIfNewer(document: unknown, file: string): void {
  const version = member(document, "schemaVersion");
  if (typeof version !== "number" || version <= schemaVersion) return;
  const message = `${file} was written by a newer Fairlead: its schemaVersion is ${version}, this version reads ${schemaVersion}`;
  throw new HostError("settings_invalid", message, { next: "Update Fairlead." });
}

function toServer(value: unknown, file: string): LockedServer {
  const entry = member(value, "entry");
  const [version, instructions] = [member(value, "version"), member(value, "instructions")];
  if (!isObject(entry) || !isMaybeText(version) || !isMaybeText(instructions))
    throw unusable(
      file,
      'the "entry" of a server is not an object, or its "version" or "instructions" is not a string',
    );
  return {
    entry,
    version,
    instructions,
    prompts: textsOf(member(value, "prompts"), file),
    tools: textsOf(member(value, "tools"), file),
    skills: member(value, "skills") === undefined ? undefined : textsOf(member(value, "skills"), file),
  };
}

function textsOf(value: unknown, file: string): ReadonlyMap<string, string> {
  const texts = [...membersOf(value, file)].map(([name, text]) => {
    if (typeof text !== "string") throw unusable(file, 'a digest in "prompts", "tools" or "skills" is not a string');
    return [name, text] as const;
  });
  return new Map(texts);
}

function membersOf(value: unknown, file: string): ReadonlyMap<string, unknown> {
  if (!isObject(value))
    throw unusable(file, '"servers", or the "prompts", "tools" or "skills" of a server, is missing or not an object');
  return new Map(Object.entries(value));
}

/** Reads a member of the object itself, never an inherited one. */
function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isMaybeText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function unusable(file: string, why: string, cause?: unknown): HostError {
  return new HostError("settings_invalid", `${file} is not a valid lock file: ${why}`, {
    next: "Restore the committed file, or write a new one: fairlead lock",
    cause,
  });
}

function editedByHand(name: string, file: string): HostError {
  const message = `"${name}" in ${file} does not match its checksum: a person or a merge changed the file`;
  return new HostError("settings_invalid", message, {
    serverName: name,
    next: `Restore the committed file, or lock the server as it is now: fairlead lock update ${toShellWord(name)}`,
  });
}

/** The part of a catalog that the lock file stores: digests of the tools, the prompts and the instructions. */
export function lockCatalog(catalog: Catalog, version: string | undefined): LockedCatalog {
  return {
    version,
    instructions: instructionsDigest(catalog),
    prompts: new Map(catalog.prompts.map((prompt) => [prompt.name, promptDigest(prompt)])),
    tools: new Map(catalog.tools.map((tool) => [tool.name, definitionDigest(tool)])),
    skills: catalog.skills && new Map(catalog.skills.map(({ uri, digest = "dynamic" }) => [uri, digest])),
  };
}

/** The digest of a server's instructions; undefined if it has none. */
export function instructionsDigest({ instructions }: Catalog): string | undefined {
  return instructions === undefined ? undefined : digestOf(instructions);
}

/** The digest of everything in a prompt that the user or a model sees. */
export function promptDigest(prompt: CatalogPrompt): string {
  return digestOf(promptText(prompt));
}

/** All texts of a prompt that the user or a model sees, as JSON. */
export function promptText({ name, title, description, arguments: wanted }: CatalogPrompt): string {
  return canonicalJson({ name, title, description, arguments: wanted });
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
