/** Checks whether a sign-in may be stored, from the names of secrets only: opens no keychain and decrypts nothing. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Both kinds of store keep the names of their secrets in a plain file. */
const files = ["secrets.json", "secret-names.json"];

/** False only if no sign-in is stored; true also if a file cannot be read. */
export async function isPerhapsStored(state: string, serverUrl: string, pin?: string): Promise<boolean> {
  const folder = join(state, "sign-ins");
  const texts = (await Promise.all(files.map((file) => textOf(join(folder, file))))).filter((text) => text !== "");
  if (texts.length === 0) return false;
  const [{ secretNameOf }, { canonicalServerUrl }] = await Promise.all([
    import("./token-storage.ts"),
    import("./stored-credentials.ts"),
  ]);
  const url = canonicalServerUrl(serverUrl);
  if (url === undefined) return false;
  const name = await secretNameOf(url, pin);
  return texts.some((text) => text === undefined || text.includes(name));
}

/** Empty if the file does not exist; undefined if it cannot be read. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : undefined;
  }
}
