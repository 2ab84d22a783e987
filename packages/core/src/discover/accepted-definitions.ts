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
export interface DefinitionOwner {
  readonly server: string;
  /** The root, if the entry is a workspace's. */
  readonly workspace?: string;
  /** Of an entry that was typed: its name is made up, and others may get the same. */
  readonly fingerprint?: string;
}

export interface AcceptedDefinitions {
  /** Digests, the newest last; undefined for a tool that was never met. */
  readonly of: (tool: string) => readonly string[] | undefined;
  /** Further names are not kept: a server that invents some must not push out those that are accepted. */
  readonly isFull: boolean;
}

export interface AcceptedDefinitionsStore {
  /** Throws if it cannot be read. */
  read(owner: DefinitionOwner): Promise<AcceptedDefinitions>;
  /** Digests by tool. Gives what is accepted then, whoever else has added to it. */
  add(owner: DefinitionOwner, news: ReadonlyMap<string, readonly string[]>): Promise<AcceptedDefinitions>;
}

/** Names of one server, ever. With all digests that are kept of each, they fit into a file. */
const mostNames = 5_000;
/** Of one tool: two accounts may see two definitions, and both be accepted. */
const mostDigests = 8;

/** As it lies on disk. Tools go by the digests of their names, which may be long. */
interface AcceptedFile extends DefinitionOwner {
  readonly version: 1;
  readonly tools: Readonly<Record<string, readonly string[]>>;
}

export function createAcceptedDefinitionsStore(folder: string): AcceptedDefinitionsStore {
  const fileOf = ({ server, workspace, fingerprint }: DefinitionOwner): string =>
    join(folder, `${digestOf(JSON.stringify([server, workspace, fingerprint]))}.json`);

  return {
    async read(owner) {
      const file = fileOf(owner);
      const found = await readText(file, limits.settingsBytes);
      if (found.kind === "unreadable") throw notRead(file, found.reason, found.cause);
      // A damaged file is put aside when it is written to.
      return toAccepted(found.kind === "text" ? parse(parseJson(found.text)) : undefined);
    },

    async add(owner, news) {
      const { updateState } = await import("../files/atomic/state-file.ts");
      let accepted: AcceptedFile | undefined;
      await updateState(fileOf(owner), parse, (before) => {
        accepted = { version: 1, ...owner, tools: merged(before?.tools ?? {}, news) };
        return accepted;
      });
      return toAccepted(accepted);
    },
  };
}

function merged(before: AcceptedFile["tools"], news: ReadonlyMap<string, readonly string[]>): AcceptedFile["tools"] {
  const tools = new Map(Object.entries(before));
  for (const [name, digests] of news) {
    const key = digestOf(name);
    const accepted = tools.get(key);
    if (accepted === undefined && tools.size >= mostNames) continue;
    tools.set(key, withDigests(accepted ?? [], digests));
  }
  return Object.fromEntries(tools);
}

/** Those that were accepted longest go first. */
export function withDigests(accepted: readonly string[], more: readonly string[]): readonly string[] {
  return [...accepted.filter((digest) => !more.includes(digest)), ...more].slice(-mostDigests);
}

function toAccepted(file: AcceptedFile | undefined): AcceptedDefinitions {
  const tools = new Map(Object.entries(file?.tools ?? {}));
  return { of: (tool) => tools.get(digestOf(tool)), isFull: tools.size >= mostNames };
}

function parse(value: unknown): AcceptedFile | undefined {
  return isAcceptedFile(value) ? value : undefined;
}

function isAcceptedFile(value: unknown): value is AcceptedFile {
  if (!isObject(value)) return false;
  const { version, server, tools }: Partial<Record<keyof AcceptedFile, unknown>> = value;
  const isList = (list: unknown): boolean => Array.isArray(list) && list.every((digest) => typeof digest === "string");
  return version === 1 && typeof server === "string" && isObject(tools) && Object.values(tools).every(isList);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
