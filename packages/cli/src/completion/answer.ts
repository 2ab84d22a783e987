/** The completions at the cursor: whole words without quotes. The caller quotes them for the shell. */

import { readdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import type { Io } from "../shell/verb.ts";

/** The suggestions for the word at the cursor. The kinds `files` and `folders` leave the completion to the shell. */
export type CompletionAnswer =
  | { readonly kind: "words"; readonly candidates: readonly CompletionWord[] }
  /** Tells the shell to complete a path itself. `prefix`: the part of the word before the path. */
  | { readonly kind: "files" | "folders"; readonly prefix: string };

/** One suggested word. `about` is its description, which may be empty. */
export interface CompletionWord {
  readonly value: SafeText;
  readonly about: SafeText;
  /** Whether the word is incomplete, so that the shell must not insert a space after it. */
  readonly isOpen: boolean;
}

/** The answer without any suggestion. */
export const nothing: CompletionAnswer = { kind: "words", candidates: [] };

/** One suggestion before the check by `toWords`. */
export interface Suggestion {
  readonly value: string;
  readonly about?: string | undefined;
  readonly isOpen?: boolean;
}

const longestAbout = 100;
const longestValue = 1000;

/**
 * Returns the suggestions as an answer. Drops values that are empty, very long or contain invisible characters, because
 * settings and servers are untrusted.
 */
export function toWords(offered: readonly Suggestion[]): CompletionAnswer {
  return {
    kind: "words",
    candidates: offered.flatMap(({ value, about = "", isOpen = false }) => {
      const visible = toVisibleLine(value);
      if (value === "" || value.length > longestValue || visible !== value) return [];
      return { value: visible, about: toAbout(about), isOpen };
    }),
  };
}

function toAbout(text: string): SafeText {
  const [line = ""] = text.trim().split(/\r?\n/, 1);
  return line === "" ? safe`` : toSafeLine(clip(line.trimEnd(), longestAbout));
}

/** Puts the prefix, such as `--option=`, before each value. */
export function withPrefix(prefix: string, answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return { ...answer, prefix: `${prefix}${answer.prefix}` };
  return {
    kind: "words",
    candidates: answer.candidates.map((one) => ({ ...one, value: safe`${toSafeLine(prefix)}${one.value}` })),
  };
}

/**
 * Drops values that begin with a dash. Servers and settings choose these names, and Fairlead would read such a name as
 * an option, for example as `--yes`.
 */
export function withoutDashes(answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return answer;
  return { kind: "words", candidates: answer.candidates.filter(({ value }) => !value.startsWith("-")) };
}

/** Suggests files. `current`: the whole word at the cursor, including a prefix such as `key=@`. */
export async function suggestFiles(
  { kind, prefix }: Extract<CompletionAnswer, { readonly kind: "files" | "folders" }>,
  current: string,
  { cwd }: Pick<Io, "cwd">,
): Promise<CompletionAnswer> {
  const path = current.slice(prefix.length);
  const [folder, begin] = [path.slice(0, path.lastIndexOf("/") + 1), path.slice(path.lastIndexOf("/") + 1)];
  // An unreadable folder gives no suggestions. The command reports the error when it runs.
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
