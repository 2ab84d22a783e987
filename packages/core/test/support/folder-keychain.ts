/** A keychain that several processes share: a folder with one file for each entry. */

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Keychain } from "../../src/files/secrets/secret-port.ts";
import { unless } from "../../src/files/system-error.ts";

export function folderKeychain(folder: string): Keychain {
  const file = (name: string): string => join(folder, encodeURIComponent(name));
  const get = async (name: string): Promise<string | undefined> =>
    (await readFile(file(name), "utf8").catch(unless("ENOENT"))) ?? undefined;
  return {
    get,
    async set(name, value) {
      await mkdir(folder, { recursive: true });
      await writeFile(file(name), value);
    },
    async remove(name) {
      const isThere = (await get(name)) !== undefined;
      await rm(file(name), { force: true });
      return isThere;
    },
  };
}
