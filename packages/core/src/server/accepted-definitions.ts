/**
 * Stores the digests of accepted tool definitions, one file per server. They are not in the catalog cache: Fairlead
 * deletes old catalogs and does not cache huge ones.
 */

import { hash } from "node:crypto";
import { join } from "node:path";
import { isObject, parseJson } from "@fairlead/wire/json";
import { checkWritable } from "../files/atomic/private-folder.ts";
import { updateState } from "../files/atomic/state-file.ts";
import { createFolderNames, type FolderNames } from "../files/folder-names.ts";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";
import { limits } from "../limits.ts";

/**
 * Identifies the server whose tool definitions a person accepted. Its variables, account and timeouts are not part of
 * the identity, so they may change.
 */
export interface DefinitionOwner {
  readonly server: string;
  /** The folder, if the server may be another program in another folder. */
  readonly workspace?: string;
  /**
   * Digest of the server definition. Present only for a server from the command line or from `createHost`: in the next
   * run, its name may mean another server.
   */
  readonly fingerprint?: string;
}

/** The accepted tool definitions of one server. */
export interface AcceptedDefinitions {
  /** The digests of a tool's accepted definitions, newest last. Undefined for an unknown tool. */
  readonly of: (tool: string) => readonly string[] | undefined;
  /**
   * Whether the maximum number of tool names is stored. If so, new names are not stored: otherwise a server could
   * invent tools until the accepted ones are dropped.
   */
  readonly isFull: boolean;
}

/** Maximum number of tool names of one server, so that the file stays small. */
const mostNames = 5_000;
/**
 * Maximum number of digests of one tool. Several may be valid: a server may define a tool differently for each account.
 */
const mostDigests = 8;

/** The digests of accepted definitions as they are stored. The keys are digests of tool names, because names may be long. */
export type AcceptedDigests = Readonly<Record<string, readonly string[]>>;

/** The content of the file. */
interface AcceptedFile extends DefinitionOwner {
  readonly version: 1;
  readonly tools: AcceptedDigests;
}

/** Where a user's accepted tool definitions are kept. Default: files of the state folder. */
export interface AcceptedDefinitionPort {
  /** Reads the accepted definitions. Rejects if they cannot be read. */
  read(owner: DefinitionOwner): Promise<AcceptedDefinitions>;
  /** Adds digests of accepted definitions, by tool name. Resolves with all accepted definitions. */
  add(owner: DefinitionOwner, news: ReadonlyMap<string, readonly string[]>): Promise<AcceptedDefinitions>;
  /** Rejects if `add` could not store anything now. Stores nothing. */
  checkWritable(): Promise<void>;
}

/** Reads and adds accepted tool definitions. They stay on disk between runs, in files of `folder`. */
export class AcceptedDefinitionsStore implements AcceptedDefinitionPort {
  readonly #folder: string;
  readonly #names: FolderNames;

  constructor(folder: string) {
    this.#folder = folder;
    this.#names = createFolderNames(folder);
  }

  /** Reads the accepted definitions. Rejects if the file cannot be read. */
  async read(owner: DefinitionOwner): Promise<AcceptedDefinitions> {
    const name = nameOf(owner);
    if (!(await this.#names.mayHave(name))) return toAccepted({});
    const file = join(this.#folder, name);
    const found = await readText(file, limits.settingsBytes);
    if (found.kind === "unreadable") throw notRead(file, found.reason, found.cause);
    // A damaged file counts as empty here. The next write renames it.
    return toAccepted((found.kind === "text" ? parse(parseJson(found.text)) : undefined)?.tools ?? {});
  }

  /**
   * Adds digests of accepted definitions, by tool name. Resolves with all accepted definitions, including those that
   * other processes have added.
   */
  async add(owner: DefinitionOwner, news: ReadonlyMap<string, readonly string[]>): Promise<AcceptedDefinitions> {
    let tools: AcceptedDigests = {};
    await updateState(join(this.#folder, nameOf(owner)), parse, (before) => {
      tools = addAccepted(before?.tools ?? {}, news);
      return { version: 1 as const, ...owner, tools };
    });
    return toAccepted(tools);
  }

  /** Rejects if `add` could not write, because of the folder. Writes nothing. */
  checkWritable(): Promise<void> {
    return checkWritable(this.#folder);
  }
}

function nameOf({ server, workspace, fingerprint }: DefinitionOwner): string {
  return `${digestOf(JSON.stringify([server, workspace, fingerprint]))}.json`;
}

/** Adds digests, by tool name. New names are dropped if there are too many. */
export function addAccepted(before: AcceptedDigests, news: ReadonlyMap<string, readonly string[]>): AcceptedDigests {
  const tools = new Map(Object.entries(before));
  for (const [name, digests] of news) {
    const key = digestOf(name);
    const accepted = tools.get(key);
    if (accepted === undefined && tools.size >= mostNames) continue;
    tools.set(key, withDigests(accepted ?? [], digests));
  }
  return Object.fromEntries(tools);
}

/** Adds digests, and drops the oldest if there are too many. */
export function withDigests(accepted: readonly string[], more: readonly string[]): readonly string[] {
  return [...accepted.filter((digest) => !more.includes(digest)), ...more].slice(-mostDigests);
}

/** Stored digests as they are read. */
export function toAccepted(digests: AcceptedDigests): AcceptedDefinitions {
  const tools = new Map(Object.entries(digests));
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
  return hash("sha256", text, "base64url");
}
