/** The catalog cache on disk. At the next start, Fairlead shows the cached catalogs before the servers answer. */

import { createHmac, hash } from "node:crypto";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import type { CatalogCounts, Peer } from "../events.ts";
import { checkWritable, ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { replaceFile } from "../files/atomic/replace-file.ts";
import { createFolderNames, type FolderNames } from "../files/folder-names.ts";
import { readText } from "../files/read-text.ts";
import { unless } from "../files/system-error.ts";
import { limits } from "../limits.ts";
import type { Transport } from "../settings/define/definition.ts";
import { writeJson } from "../text/deep-json.ts";
import { createTurns } from "../text/turns.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";

/** An unchanged catalog is written again only after this many milliseconds, to update its dates. */
const renewAfter = 60 * 60 * 1000;
const forgetAfter = 90 * 24 * 60 * 60 * 1000;
const mostFiles = 500;

/** Reads and writes the catalog cache. Its files are in `folder`. */
export class CatalogStore {
  readonly #folder: string;
  readonly #names: FolderNames;
  readonly #written = new Map<string, { readonly savedAt: number; readonly digest: string }>();
  #isSwept = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#names = createFolderNames(folder);
  }

  /** Whether the cache's folder is empty or does not exist. */
  isEmpty(): Promise<boolean> {
    return this.#names.isEmpty();
  }

  /** The cached catalog. Undefined if no catalog is stored under this key. */
  async read(key: string): Promise<CachedCatalog | undefined> {
    if (!(await this.#names.mayHave(`${key}.json`))) return undefined;
    const found = await readText(this.#fileOf(key), limits.cachedCatalogBytes);
    if (found.kind !== "text") return undefined;
    const cached = parseCachedCatalog(found.text);
    if (cached === undefined) return undefined;
    this.#written.set(key, { savedAt: cached.savedAt, digest: digestIn(found.text, cached) });
    return cached;
  }

  async save(key: string, cached: CachedCatalog): Promise<void> {
    const { savedAt } = cached;
    const before = this.#written.get(key);
    const { text, digest } = (await write(cached)) ?? {};
    if (text === undefined || digest === undefined) return;
    if (before?.digest === digest && savedAt - before.savedAt < renewAfter) return;
    await ensurePrivateFolder(this.#folder);
    await replaceFile(this.#fileOf(key), {
      text,
      mode: privateFileMode,
      previous: undefined,
      isCurrent: () => Promise.resolve(true),
      // The write need not survive a power failure, because Fairlead can read the catalog again.
      canBeLost: true,
    });
    this.#written.set(key, { savedAt, digest });
    if (before !== undefined) return;
    const isFirst = !this.#isSwept;
    this.#isSwept = true;
    await sweep(this.#folder, savedAt, isFirst);
  }

  /** Whether `noteAsksBack` was called for this key in the last 90 days. Also true if the folder cannot be listed. */
  asksBack(key: string): Promise<boolean> {
    return this.#names.mayHave(markOf(key));
  }

  /**
   * Records that the server sent a request without saying for which gateway client. The note has its own file, because
   * another process may replace the catalog's file at any time.
   */
  async noteAsksBack(key: string): Promise<void> {
    await ensurePrivateFolder(this.#folder);
    await writeFile(join(this.#folder, markOf(key)), "", { mode: privateFileMode });
  }

  /** Rejects if `save` could not write, because of the folder. Writes nothing. */
  checkWritable(): Promise<void> {
    return checkWritable(this.#folder);
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function markOf(key: string): string {
  return `${key}.asks-back`;
}

/** The text of a cached catalog, and its digest. The digest does not cover the dates, which change with every save. */
interface Written {
  readonly text: string;
  readonly digest: string;
}

/**
 * Converts a cached catalog to JSON. Pauses in between, so that other code can run. Undefined if the catalog is too
 * large.
 */
async function write(cached: CachedCatalog): Promise<Written | undefined> {
  const turns = createTurns();
  const { savedAt: _savedAt, freshUntil: _freshUntil, ...content } = cached;
  const parts: string[] = [];
  let size = 0;

  async function add(value: unknown): Promise<boolean> {
    const text = writeJson(value);
    parts.push(text);
    size += Buffer.byteLength(text) + 1;
    const next = turns.done(text.length);
    if (next) await next;
    return size <= limits.cachedCatalogBytes;
  }

  /** Converts a list or object to JSON. Writes the members one by one, down to the given number of levels. */
  async function addMembers(value: object, levels: number): Promise<boolean> {
    const isList = Array.isArray(value);
    parts.push(isList ? "[" : "{");
    let isFirst = true;
    for (const [name, member] of Object.entries(value) as [string, unknown][]) {
      if (member === undefined) continue;
      parts.push(isFirst ? "" : ",", isList ? "" : `${JSON.stringify(name)}:`);
      isFirst = false;
      const isDivided = levels > 0 && typeof member === "object" && member !== null;
      if (!(await (isDivided ? addMembers(member, levels - 1) : add(member)))) return false;
    }
    parts.push(isList ? "]" : "}");
    return true;
  }

  if (!(await addMembers(content, 2))) return undefined;
  const body = parts.join("");
  return { text: `${body.slice(0, -1)}${datesOf(cached)}`, digest: hash("sha256", body) };
}

/** The digest of a cache file's text without its dates. `write` computes the same digest. */
function digestIn(text: string, cached: CachedCatalog): string {
  return hash("sha256", `${text.slice(0, -datesOf(cached).length)}}`);
}

/** The dates at the end of a cache file, as JSON text. They change with every save. */
function datesOf({ savedAt, freshUntil }: CachedCatalog): string {
  return `,${JSON.stringify({ savedAt, freshUntil }).slice(1)}`;
}

/**
 * Deletes old cache files. When a server definition changes, its key changes, and its previous file is no longer used.
 *
 * @param byAge If true, deletes all old files. If false, does so only if there are too many files.
 */
async function sweep(folder: string, now: number, byAge: boolean): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /\.(json|tmp|asks-back)$/.test(name));
  if (!byAge && names.length <= mostFiles) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return { path, changed: (await stat(path).catch(unless("ENOENT")))?.mtimeMs ?? 0 };
    }),
  );
  const newestFirst = files.sort((a, b) => b.changed - a.changed);
  const stale = newestFirst.filter(({ changed }, index) => index >= mostFiles || now - changed > forgetAfter);
  await Promise.all(stale.map(({ path }) => rm(path, { force: true })));
}

/** What a server's catalog depends on: its definition, its expanded values, the account and the folder. */
export interface CatalogIdentity {
  /** Digest of the server definition as written in the settings. */
  readonly fingerprint: string;
  /** The transport with variables and secrets expanded. A server may list different tools for different tokens. */
  readonly expanded: Transport;
  /** The account that is signed in to the server. */
  readonly account?: string;
  /** The folder, if the server may be another program in another folder. */
  readonly folder?: string;
}

/** Key of a catalog in the cache. It is an HMAC, because an attacker could guess secrets from a plain digest. */
export function catalogKey({ fingerprint, expanded, account = "", folder }: CatalogIdentity, key: Buffer): string {
  const content = JSON.stringify([fingerprint, plain(expanded), account, ...(folder === undefined ? [] : [folder])]);
  return createHmac("sha256", key).update(content).digest("hex").slice(0, 40);
}

function plain(transport: Transport): unknown {
  if (transport.kind !== "stdio") return [transport.kind, transport.url, sorted(transport.headers)];
  const { kind, command, args, env, cwd = null } = transport;
  return [kind, command, args, sorted(env), cwd];
}

function sorted(values: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The cached catalog of one server. Times are milliseconds since 1970. */
export interface CachedCatalog {
  /** The catalog without the tools that `includeTools` and `excludeTools` hide. */
  readonly catalog: Catalog;
  /** The hidden tools, each with the setting that hides it. */
  readonly hidden: readonly (readonly [tool: string, setting: "includeTools" | "excludeTools"])[];
  /** Accepted definitions of tools that the server has since changed or removed. */
  readonly accepted?: readonly CatalogTool[];
  readonly offer: CatalogCounts;
  readonly peer: Peer;
  /** The server's capabilities. Absent if an earlier version of Fairlead wrote the file. */
  readonly capabilities?: JsonObject | undefined;
  /** When the protocol was negotiated. */
  readonly reachedAt: number;
  readonly savedAt: number;
  /** The time until which the lists are valid. Absent if the server does not give such a time. */
  readonly freshUntil?: number;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isSwitch: Check = (value) => typeof value === "boolean";
const isWord =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const isMaybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Checks only the members in `shape`. Other members are allowed. */
function isShape(shape: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(shape);
  return (value) => isObject(value) && checks.every(([member, check]) => check(value[member]));
}

const described = { title: isMaybe(isText), description: isMaybe(isText) };
const isNotes = isListOf(isShape({ kind: isText, name: isMaybe(isText), reason: isText }));
const isTools = isListOf(
  isShape({
    name: isText,
    ...described,
    inputSchema: isObject,
    outputSchema: isMaybe(isObject),
    annotations: isMaybe(isObject),
  }),
);
const isSkills = isListOf(
  isShape({
    uri: isText,
    name: isText,
    description: isText,
    frontmatter: isObject,
    files: isMaybe(isListOf(isShape({ uri: isText, path: isText, digest: isText, size: isNumber }))),
    digest: isMaybe(isText),
  }),
);
const isCatalog = isShape({
  tools: isTools,
  prompts: isListOf(
    isShape({
      name: isText,
      ...described,
      arguments: isListOf(isShape({ name: isText, description: isMaybe(isText), required: isSwitch })),
    }),
  ),
  resources: isListOf(isShape({ uri: isText, name: isText, ...described, mimeType: isMaybe(isText) })),
  resourceTemplates: isListOf(isShape({ uriTemplate: isText, name: isText, ...described, mimeType: isMaybe(isText) })),
  skills: isMaybe(isSkills),
  instructions: isMaybe(isText),
  ttlMs: isMaybe(isNumber),
  dropped: isNotes,
  repaired: isNotes,
  truncated: isNotes,
});
const isPeer = isShape({
  era: isWord("legacy", "modern"),
  protocolVersion: isText,
  serverInfo: isShape({ name: isText, version: isText, title: isMaybe(isText) }),
  transport: isMaybe(isWord("stdio", "http", "sse")),
});
const isCachedCatalog = isShape({
  catalog: isCatalog,
  accepted: isMaybe(isTools),
  peer: isPeer,
  capabilities: isMaybe(isObject),
  hidden: isListOf(
    (pair) =>
      Array.isArray(pair) && pair.length === 2 && isText(pair[0]) && isWord("includeTools", "excludeTools")(pair[1]),
  ),
  offer: isShape({
    tools: isNumber,
    prompts: isNumber,
    resources: isNumber,
    resourceTemplates: isNumber,
    skills: isMaybe(isNumber),
    note: isMaybe(isText),
  }),
  reachedAt: isNumber,
  savedAt: isNumber,
  freshUntil: isMaybe(isNumber),
});

function parseCachedCatalog(text: string): CachedCatalog | undefined {
  const value = parseJson(text);
  return isWholeCatalog(value) ? value : undefined;
}

function isWholeCatalog(value: unknown): value is CachedCatalog {
  return isCachedCatalog(value);
}
