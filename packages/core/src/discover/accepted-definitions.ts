/**
 * Which definitions of a server's tools a person knows: their digests alone, one small file a server, kept for good. What
 * catalogs hold, and whether they can be kept at all, is the server's doing; what counts as changed must not be.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { isObject, parseJson } from "@fairlead/wire/json";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";
import { limits } from "../limits.ts";

/** Whose tools: never by what variables stand for, who is signed in, or how patient we are with it. */
export interface Owner {
  readonly server: string;
  /** The root, if the entry is a workspace's. */
  readonly workspace?: string;
  /** Of an entry that was typed: its name is made up, and others may get the same. */
  readonly fingerprint?: string;
}

export interface KnownDefinitions {
  /** Digests, the newest last; undefined for a tool that was never met. */
  readonly of: (tool: string) => readonly string[] | undefined;
  /** Further names are not kept: a server that invents some must not push out those that are known. */
  readonly isFull: boolean;
}

export interface KnownStore {
  /** Throws if it cannot be read. */
  read(owner: Owner): Promise<KnownDefinitions>;
  /** Digests by tool. Gives what is known then, whoever else has added to it. */
  add(owner: Owner, news: ReadonlyMap<string, readonly string[]>): Promise<KnownDefinitions>;
}

/** Names of one server, ever. With all digests that are kept of each, they fit into a file. */
const mostNames = 5_000;
/** Of one tool: two accounts may see two definitions, and both be accepted. */
const mostDigests = 8;

/** As it lies on disk. Tools go by the digests of their names, which may be long. */
interface KnownFile extends Owner {
  readonly version: 1;
  readonly tools: Readonly<Record<string, readonly string[]>>;
}

export function createKnownStore(folder: string): KnownStore {
  const fileOf = ({ server, workspace, fingerprint }: Owner): string =>
    join(folder, `${digestOf(JSON.stringify([server, workspace, fingerprint]))}.json`);

  return {
    async read(owner) {
      const file = fileOf(owner);
      const found = await readText(file, limits.settingsBytes);
      if (found.kind === "unreadable") throw notRead(file, found.reason, found.cause);
      // A damaged file is put aside when it is written to.
      return toKnown(found.kind === "text" ? parse(parseJson(found.text)) : undefined);
    },

    async add(owner, news) {
      const { updateState } = await import("../files/atomic/state-file.ts");
      let known: KnownFile | undefined;
      await updateState(fileOf(owner), parse, (before) => {
        known = { version: 1, ...owner, tools: merged(before?.tools ?? {}, news) };
        return known;
      });
      return toKnown(known);
    },
  };
}

function merged(before: KnownFile["tools"], news: ReadonlyMap<string, readonly string[]>): KnownFile["tools"] {
  const tools = new Map(Object.entries(before));
  for (const [name, digests] of news) {
    const key = digestOf(name);
    const known = tools.get(key);
    if (known === undefined && tools.size >= mostNames) continue;
    tools.set(key, withDigests(known ?? [], digests));
  }
  return Object.fromEntries(tools);
}

/** Those that were known longest go first. */
export function withDigests(known: readonly string[], more: readonly string[]): readonly string[] {
  return [...known.filter((digest) => !more.includes(digest)), ...more].slice(-mostDigests);
}

function toKnown(file: KnownFile | undefined): KnownDefinitions {
  const tools = new Map(Object.entries(file?.tools ?? {}));
  return { of: (tool) => tools.get(digestOf(tool)), isFull: tools.size >= mostNames };
}

function parse(value: unknown): KnownFile | undefined {
  return isKnownFile(value) ? value : undefined;
}

function isKnownFile(value: unknown): value is KnownFile {
  if (!isObject(value)) return false;
  const { version, server, tools }: Partial<Record<keyof KnownFile, unknown>> = value;
  const isList = (list: unknown): boolean => Array.isArray(list) && list.every((digest) => typeof digest === "string");
  return version === 1 && typeof server === "string" && isObject(tools) && Object.values(tools).every(isList);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
