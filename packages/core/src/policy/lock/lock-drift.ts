/** Compares the servers in the settings, and their catalogs, with the lock file. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { Difference } from "../../server/tool-changes.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { fitsText, hidden } from "../../text/hidden-text.ts";
import type { LockedCatalog, LockFile } from "./lock-file.ts";

/** The current state of a server. `catalog` is absent if Fairlead has not read the server's catalog. */
export interface PresentServer {
  readonly entry: JsonObject;
  readonly catalog?: LockedCatalog;
}

/** Names of tools or of prompts that were added, removed or changed. */
export interface ListDrift {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** How one server differs from the lock file. */
export interface LockDrift {
  readonly server: string;
  /** `added`: the server is only in the settings. `removed`: the server is only in the lock file. */
  readonly kind: "added" | "removed" | "changed";
  /**
   * Changed members of the server's entry in the settings, and changes of its `version` and `instructions`. Each member
   * of `env`, `headers` and `oauth` is listed separately.
   */
  readonly members: readonly Difference[];
  readonly tools: ListDrift;
  readonly prompts: ListDrift;
  /** Absent if the lock file has no digests of the server's skills. */
  readonly skills?: ListDrift | undefined;
}

/** Returns the servers that differ from the lock file, sorted by name. */
export function compareLock(lock: LockFile, now: ReadonlyMap<string, PresentServer>): readonly LockDrift[] {
  const names = [...new Set([...lock.keys(), ...now.keys()])].sort();
  return names.flatMap((server) => {
    const [locked, present] = [lock.get(server), now.get(server)];
    if (locked === undefined) return { server, kind: "added", ...nothing };
    if (present === undefined) return { server, kind: "removed", ...nothing };
    const catalog = present.catalog ?? locked;
    const drift: LockDrift = {
      server,
      kind: "changed",
      members: [...entryDrift(locked.entry, present.entry), ...ownDrift(locked, catalog)],
      tools: listDrift(locked.tools, catalog.tools),
      prompts: listDrift(locked.prompts, catalog.prompts),
      skills: locked.skills && listDrift(locked.skills, catalog.skills ?? new Map()),
    };
    return isSame(drift) ? [] : drift;
  });
}

/**
 * Whether the server's current entry in the settings differs from the locked entry. A changed entry may start a
 * different program or use a different URL.
 */
export function isEntryChanged(locked: JsonObject, now: JsonObject): boolean {
  return entryDrift(locked, now).length > 0;
}

/**
 * Compares a locked entry with the current entry, without `description`. `(hidden)` in the locked entry matches any
 * text. Returns no current values, because they may be secrets.
 */
export function hiddenEntryDrift(locked: JsonObject, written: JsonObject): readonly Difference[] {
  const { description: _words, ...entry } = written;
  const isHidden = (name: string): boolean => locked[name] === hidden && Object.hasOwn(entry, name);
  const shown = (of: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !isHidden(name)));
  const isSame = (old?: string, now?: string): boolean => old !== undefined && now !== undefined && fits(old, now);
  return differences(flat(shown(locked)), flat(shown(entry)), isSame).map(({ member, before, after }) => ({
    member: `entry.${member}`,
    before,
    after: after && "(changed; to see the change: fairlead lock verify)",
  }));
}

/** Whether `text` equals `shown`. `(hidden)` in `shown` matches any text. Lists are compared item by item. */
function fits(shown: string, text: string): boolean {
  const [items, others] = [listOf(shown), listOf(text)];
  if (items && others) return items.length === others.length && items.every((item, at) => fits(item, others[at] ?? ""));
  return fitsText(shown, text);
}

/** Parses the JSON text that `flat` writes for a list, and returns the items. Undefined if the text is not a list. */
function listOf(text: string): readonly string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(wordsOf) : undefined;
  } catch {
    return undefined;
  }
}

const none: ListDrift = { added: [], removed: [], changed: [] };
const nothing = { members: [], tools: none, prompts: none } as const;

function isSame({ members, tools, prompts, skills = none }: LockDrift): boolean {
  const lists = [tools, prompts, skills].flatMap(({ added, removed, changed }) => [added, removed, changed]);
  return members.length === 0 && lists.every((names) => names.length === 0);
}

function entryDrift(before: JsonObject, after: JsonObject): readonly Difference[] {
  return differences(flat(before), flat(after));
}

/**
 * Differences in version and instructions. The lock file contains only a digest of the instructions, so only digests
 * are shown.
 */
function ownDrift(before: LockedCatalog, after: LockedCatalog): readonly Difference[] {
  return (["instructions", "version"] as const).flatMap((member) =>
    before[member] === after[member] ? [] : { member, before: before[member], after: after[member] },
  );
}

function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  isSame = (old?: string, now?: string): boolean => old === now,
): readonly Difference[] {
  const members = [...new Set([...before.keys(), ...after.keys()])].sort();
  return members.flatMap((member) => {
    const [old, now] = [before.get(member), after.get(member)];
    return isSame(old, now) ? [] : { member, before: old, after: now };
  });
}

/**
 * The entry as a flat list of members, such as `env.TOKEN`. An array is one member, because the order of arguments
 * matters.
 */
function flat(entry: JsonObject): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(entry).flatMap(([name, value]) =>
      isObject(value)
        ? Object.entries(value).map(([inner, text]) => [`${name}.${inner}`, wordsOf(text)] as const)
        : [[name, wordsOf(value)] as const],
    ),
  );
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

function listDrift(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ListDrift {
  const sorted = (names: readonly string[]): readonly string[] => names.toSorted();
  return {
    added: sorted([...after.keys()].filter((name) => !before.has(name))),
    removed: sorted([...before.keys()].filter((name) => !after.has(name))),
    changed: sorted(
      [...before].flatMap(([name, digest]) => (after.has(name) && after.get(name) !== digest ? name : [])),
    ),
  };
}
