/** The catalog cache on disk, from which the next start shows catalogs before servers answer. */

import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { replaceFile } from "../files/atomic/replace-file.ts";
import { readText } from "../files/read-text.ts";
import { unless } from "../files/system-error.ts";
import { limits } from "../limits.ts";
import { writeJson } from "../text/deep-json.ts";
import { createTurns } from "../text/turns.ts";
import { type CachedCatalog, parseCachedCatalog } from "./cached-catalog.ts";

/** The catalog cache. */
export interface CatalogStore {
  /** Undefined if no catalog is stored under this key. */
  read(key: string): Promise<CachedCatalog | undefined>;
  save(key: string, cached: CachedCatalog): Promise<void>;
}

/** Milliseconds in which an unchanged catalog is not written again. */
const renewAfter = 60 * 60 * 1000;
const forgetAfter = 90 * 24 * 60 * 60 * 1000;
const mostFiles = 500;

/** @param folder Folder of the files. */
export function createCatalogStore(folder: string): CatalogStore {
  const written = new Map<string, { readonly savedAt: number; readonly digest: string }>();
  const fileOf = (key: string): string => join(folder, `${key}.json`);

  return {
    async read(key) {
      const found = await readText(fileOf(key), limits.catalogBytes);
      if (found.kind !== "text") return undefined;
      const cached = parseCachedCatalog(found.text);
      if (cached === undefined) return undefined;
      const parts = await write(cached);
      if (parts) written.set(key, { savedAt: cached.savedAt, digest: parts.digest });
      return cached;
    },

    async save(key, cached) {
      const { savedAt } = cached;
      const before = written.get(key);
      const { text, digest } = (await write(cached)) ?? {};
      if (text === undefined || digest === undefined) return;
      if (before?.digest === digest && savedAt - before.savedAt < renewAfter) return;
      await ensurePrivateFolder(folder);
      await replaceFile(fileOf(key), {
        text,
        mode: privateFileMode,
        previous: undefined,
        isCurrent: () => Promise.resolve(true),
      });
      written.set(key, { savedAt, digest });
      if (before === undefined) await sweep(folder, savedAt);
    },
  };
}

/** The text of a cached catalog, and the digest of everything except the dates that change with every save. */
interface Written {
  readonly text: string;
  readonly digest: string;
}

/** Writes a cached catalog item by item and in turns, because a large one takes long. Undefined if it is too large. */
async function write(cached: CachedCatalog): Promise<Written | undefined> {
  const turns = createTurns();
  const { savedAt, freshUntil, ...content } = cached;
  const parts: string[] = [];
  let size = 0;

  async function add(value: unknown): Promise<boolean> {
    const text = writeJson(value);
    parts.push(text);
    size += Buffer.byteLength(text) + 1;
    const next = turns.done(text.length);
    if (next) await next;
    return size <= limits.catalogBytes;
  }

  /** A member whose value is a list or an object is written member by member, down to the items of the lists. */
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
  const dates = JSON.stringify({ savedAt, ...(freshUntil !== undefined && { freshUntil }) });
  return {
    text: `${body.slice(0, -1)},${dates.slice(1)}`,
    digest: createHash("sha256").update(body).digest("hex"),
  };
}

/** Deletes old files: a changed definition has another key, so its old file is never read again. */
async function sweep(folder: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json") || name.endsWith(".tmp"));
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
