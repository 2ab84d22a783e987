/** The catalog cache on disk, from which the next start shows catalogs before servers answer. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { replaceFile } from "../files/atomic/replace-file.ts";
import { readText } from "../files/read-text.ts";
import { unless } from "../files/system-error.ts";
import { limits } from "../limits.ts";
import { writeJson } from "../text/deep-json.ts";
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
  const written = new Map<string, { readonly savedAt: number; readonly content: string }>();
  const fileOf = (key: string): string => join(folder, `${key}.json`);

  return {
    async read(key) {
      const found = await readText(fileOf(key), limits.catalogBytes);
      if (found.kind !== "text") return undefined;
      const cached = parseCachedCatalog(found.text);
      if (cached !== undefined) written.set(key, { savedAt: cached.savedAt, content: contentOf(cached) });
      return cached;
    },

    async save(key, cached) {
      const { savedAt } = cached;
      const content = contentOf(cached);
      const before = written.get(key);
      if (before?.content === content && savedAt - before.savedAt < renewAfter) return;
      const text = writeJson(cached);
      if (Buffer.byteLength(text) > limits.catalogBytes) return;
      await ensurePrivateFolder(folder);
      await replaceFile(fileOf(key), {
        text,
        mode: privateFileMode,
        previous: undefined,
        isCurrent: () => Promise.resolve(true),
      });
      written.set(key, { savedAt, content });
      if (before === undefined) await sweep(folder, savedAt);
    },
  };
}

/** Everything except the dates that change with every save. */
function contentOf({ catalog, accepted, hidden, offer, peer, reachedAt }: CachedCatalog): string {
  return writeJson([catalog, accepted, hidden, offer, peer, reachedAt]);
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
