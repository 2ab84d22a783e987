/** Whether a sign-in may be stored for a server, found out from names alone: no keychain is opened, and nothing decrypted. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Both kinds of store keep their names in a file that anyone of this user can read. */
const files = ["secrets.json", "secret-names.json"];

/** A file that cannot be read may hold anything: then the store itself is asked. */
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

/** Empty: there is none. Undefined: there is one, and it cannot be read. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : undefined;
  }
}
