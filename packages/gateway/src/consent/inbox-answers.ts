/**
 * The answers to the confirmations in the inbox. Each answer is a file that only one process can create, so the first
 * answer wins.
 */

import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFile, systemCode } from "@fairlead/core/files";
import { consentAnswers, lateAnswer } from "./confirmed-request.ts";
import {
  doneName,
  type EntryFile,
  entryFiles,
  type GivenAnswer,
  isAwaited,
  namesIn,
  readInboxFile,
  removeEntry,
} from "./inbox-folder.ts";

const longestReason = 2000;

/** The answered confirmation. The key is needed too, because ids are reused. */
type AnsweredEntry = Pick<EntryFile, "id" | "key">;

/** The answer that counts. It may be an earlier answer from another place. */
export interface AnsweredQuestion extends GivenAnswer {
  readonly isFirst: boolean;
  /** Whether the request still waited for this answer. If not, a yes of any kind was stored as `once`. */
  readonly isAwaited: boolean;
}

/**
 * Stores an answer, unless there already is one. Returns the answer that counts, or undefined if the confirmation no
 * longer exists.
 */
export async function writeAnswer(
  folder: string,
  { id, key }: AnsweredEntry,
  { answer, by, at, because }: GivenAnswer,
): Promise<AnsweredQuestion | undefined> {
  const file = join(folder, `${id}.answer.json`);
  const find = async (): Promise<EntryFile | undefined> =>
    (await entryFiles(folder)).find((entry) => entry.id === id && entry.key === key);
  const found = await find();
  const hasWaiter = found !== undefined && (await isAwaited(folder, found));
  const given = { answer: hasWaiter ? answer : lateAnswer(answer), by, at, because };
  const counted = (first: GivenAnswer | undefined): AnsweredQuestion | undefined =>
    first && { ...first, isFirst: first === given, isAwaited: hasWaiter };
  const answerId = randomUUID();
  const isWritten = await createFile(file, JSON.stringify({ ...given, key, answerId }));
  if (!isWritten) return counted((await readAnswer(folder, { id, key })) ?? (await doneAnswer(folder, id)));
  // In this order, because a request that uses an answer renames its file first, and then removes the confirmation.
  const isOpen = (await find()) !== undefined;
  const done = await doneFile(folder, id);
  if (done === undefined ? isOpen : (await readInboxFile(done))?.["answerId"] === answerId) return counted(given);
  // A request has used an earlier answer, or the confirmation is gone. The new file means nothing.
  await rm(file, { force: true });
  return counted(done === undefined ? undefined : await readGiven(done));
}

/** Reads the answer to a confirmation. Returns undefined if there is none. */
export async function readAnswer(folder: string, { id, key }: AnsweredEntry): Promise<GivenAnswer | undefined> {
  const file = join(folder, `${id}.answer.json`);
  return (await readInboxFile(file))?.["key"] === key ? readGiven(file) : undefined;
}

export async function isAnswered(folder: string, entry: AnsweredEntry): Promise<boolean> {
  return ((await readAnswer(folder, entry)) ?? (await doneAnswer(folder, entry.id))) !== undefined;
}

/** Returns an answer that a request has already used. Used answers are kept for ten minutes. */
export async function doneAnswer(folder: string, id: string): Promise<GivenAnswer | undefined> {
  const file = await doneFile(folder, id);
  return file === undefined ? undefined : readGiven(file);
}

async function doneFile(folder: string, id: string): Promise<string | undefined> {
  const name = (await namesIn(folder)).find((each) => doneName.exec(each)?.[1] === id);
  return name === undefined ? undefined : join(folder, name);
}

/**
 * Marks an answer as used and removes its confirmation. If several processes try this, only one gets true.
 * @param isOutdated Whether the answer has no effect, because the tool's definition has changed.
 */
export async function useAnswer(
  folder: string,
  entry: EntryFile,
  { at }: GivenAnswer,
  isOutdated = false,
): Promise<boolean> {
  const done = usedName(entry.id, at, isOutdated);
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

function usedName(id: string, at: number, isOutdated: boolean): string {
  return `${id}.${Math.trunc(at).toString(36)}.${isOutdated ? "outdated." : ""}done.json`;
}

/**
 * Returns what became of an answer. `outdated`: it had no effect, because the tool's definition has changed. Undefined:
 * no request has used it yet.
 */
export async function useOfAnswer(
  folder: string,
  id: string,
  { at }: Pick<GivenAnswer, "at">,
): Promise<"used" | "outdated" | undefined> {
  const names = await namesIn(folder);
  if (names.includes(usedName(id, at, false))) return "used";
  return names.includes(usedName(id, at, true)) ? "outdated" : undefined;
}

async function readGiven(file: string): Promise<GivenAnswer | undefined> {
  const content = await readInboxFile(file);
  const answer = consentAnswers.find((each) => each === content?.["answer"]);
  const { by, at, because } = content ?? {};
  if (answer === undefined || typeof by !== "string" || typeof at !== "number") return undefined;
  const reason = typeof because === "string" ? because.slice(0, longestReason) : undefined;
  return { answer, by: by.slice(0, 100), at, because: reason };
}
