/**
 * Chooses the ids of confirmations. An id is used again only after all other ids, so that a person who types the id of
 * an old confirmation does not answer a new one.
 */

import { randomInt } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { systemCode } from "@fairlead/core/files/system-error";

/** The characters of an id. Letters and digits that look alike are left out. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const idLength = 3;
const idCount = alphabet.length ** idLength;
/**
 * Consecutive ids differ in several characters, so that one mistyped character does not give the id of the next
 * confirmation. An odd step reaches every id.
 */
const step = 20_077;
/** Matches the name of an empty file. The highest number stands for the latest id. */
const numberName = /^number-(\d{1,15})$/;
/** Number of files that are kept, so that a process that read the folder earlier does not take their numbers again. */
const keptNumbers = 4;

/**
 * Returns a new id. Processes that call this function at the same time get different ids.
 *
 * @param names The names of the files in the inbox.
 */
export async function createConfirmationId(folder: string, names: readonly string[]): Promise<string> {
  const numbers = names.flatMap((name) => numberName.exec(name)?.[1] ?? []).map(Number);
  let number = numbers.length === 0 ? randomInt(idCount) : Math.max(...numbers) + 1;
  while (!(await take(join(folder, `number-${number}`)))) number += 1;
  for (const old of numbers) if (old <= number - keptNumbers) await rm(join(folder, `number-${old}`), { force: true });
  return idOf(number);
}

/** Creates an empty file. Returns false if another process has created it. */
async function take(file: string): Promise<boolean> {
  return writeFile(file, "", { flag: "wx", mode: privateFileMode }).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "EEXIST") return false;
      throw error;
    },
  );
}

function idOf(number: number): string {
  let rest = ((number % idCount) * step) % idCount;
  let id = "";
  for (let at = 0; at < idLength; at += 1) {
    id += alphabet[rest % alphabet.length];
    rest = Math.trunc(rest / alphabet.length);
  }
  return id;
}
