/** Suggests files as words, for bash, which completes paths only at the start of a word. */

import { readdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Io } from "../shell/io.ts";
import { type CompletionAnswer, type Suggestion, toWords } from "./answer.ts";

/** `current`: the whole word, including the prefix. */
export async function suggestFiles(
  { kind, prefix }: Extract<CompletionAnswer, { readonly kind: "files" | "folders" }>,
  current: string,
  { cwd }: Io,
): Promise<CompletionAnswer> {
  const path = current.slice(prefix.length);
  const [folder, begin] = [path.slice(0, path.lastIndexOf("/") + 1), path.slice(path.lastIndexOf("/") + 1)];
  // An unreadable folder gives no suggestions; running the command reports the error.
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const offered = await Promise.all(
    entries.map(async (entry): Promise<readonly Suggestion[]> => {
      const { name } = entry;
      if (!name.startsWith(begin) || (name.startsWith(".") && begin === "")) return [];
      const isFolder =
        entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(resolve(cwd, folder, name))));
      if (isFolder) return [{ value: `${prefix}${folder}${name}/`, isOpen: true }];
      return kind === "files" ? [{ value: `${prefix}${folder}${name}` }] : [];
    }),
  );
  return toWords(offered.flat());
}

async function leadsToFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
