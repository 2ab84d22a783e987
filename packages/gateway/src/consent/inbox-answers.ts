/**
 * The answers to the confirmations in the inbox. An answer is a file that only the first answering process can create.
 */

import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { systemCode } from "@fairlead/core/files/system-error";
import {
  doneName,
  type EntryFile,
  entryFiles,
  type GivenAnswer,
  namesIn,
  readObject,
  removeEntry,
} from "./inbox-folder.ts";

/** The confirmation that an answer belongs to. The key is needed because a later confirmation may get the same id. */
type AnsweredEntry = Pick<EntryFile, "id" | "key">;

/**
 * Stores an answer, unless the confirmation already has one. Returns the first answer. Returns undefined if the
 * confirmation no longer exists.
 */
export async function writeAnswer(
  folder: string,
  { id, key }: AnsweredEntry,
  given: GivenAnswer,
): Promise<GivenAnswer | undefined> {
  const file = join(folder, `${id}.answer.json`);
  const isWritten = await writeFile(file, JSON.stringify({ ...given, key }), {
    flag: "wx",
    mode: privateFileMode,
  }).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "EEXIST") return false;
      throw error;
    },
  );
  if (!isWritten) return (await readAnswer(folder, { id, key })) ?? (await doneAnswer(folder, id));
  // This answer counts only if no request has used an earlier answer and the confirmation still exists.
  const done = await doneAnswer(folder, id);
  if (done === undefined && (await entryFiles(folder)).some((entry) => entry.id === id && entry.key === key))
    return given;
  await rm(file, { force: true });
  return done;
}

/** Reads the answer to a confirmation. Returns undefined if the file belongs to another confirmation. */
export async function readAnswer(folder: string, { id, key }: AnsweredEntry): Promise<GivenAnswer | undefined> {
  const file = join(folder, `${id}.answer.json`);
  return (await readObject(file))?.["key"] === key ? readGiven(file) : undefined;
}

/**
 * Whether a confirmation has an answer. An answered confirmation stays in the inbox until a request has used the
 * answer.
 */
export async function isAnswered(folder: string, entry: AnsweredEntry): Promise<boolean> {
  return ((await readAnswer(folder, entry)) ?? (await doneAnswer(folder, entry.id))) !== undefined;
}

/** Returns the used answer to a confirmation that ended a short time ago. */
export async function doneAnswer(folder: string, id: string): Promise<GivenAnswer | undefined> {
  const file = (await namesIn(folder)).find((name) => doneName.exec(name)?.[1] === id);
  return file === undefined ? undefined : readGiven(join(folder, file));
}

/** Uses up an answer. Returns true for exactly one caller among all processes. */
export async function useAnswer(folder: string, entry: EntryFile, { at }: GivenAnswer): Promise<boolean> {
  const done = `${entry.id}.${Math.trunc(at).toString(36)}.done.json`;
  const isUsed = await rename(join(folder, `${entry.id}.answer.json`), join(folder, done)).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    },
  );
  if (isUsed) for (const each of await entryFiles(folder)) if (each.id === entry.id) await removeEntry(folder, each);
  return isUsed;
}

async function readGiven(file: string): Promise<GivenAnswer | undefined> {
  const content = await readObject(file);
  const answer = (["no", "once", "conversation", "always"] as const).find((each) => each === content?.["answer"]);
  const { by, at } = content ?? {};
  return answer === undefined || typeof by !== "string" || typeof at !== "number"
    ? undefined
    : { answer, by: by.slice(0, 100), at };
}
