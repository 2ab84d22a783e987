/**
 * Chooses the ids of confirmations. An id is reused as late as possible, because a person may still type the id of an
 * old confirmation.
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
 * The distance between two consecutive ids. They differ in several characters, so a typing error does not hit the next
 * confirmation. The number must be odd to reach every id.
 */
const step = 20_077;
/** An empty file with such a name reserves a number. The highest number belongs to the latest id. */
const numberName = /^number-(\d{1,15})$/;
/**
 * Number of these files that are kept. Another process may have read the folder earlier and must not take the same
 * number.
 */
const keptNumbers = 4;

/**
 * Returns a new id. Other processes that call this function at the same time get other ids.
 * @param names The names of the files in the inbox.
 */
export async function createConfirmationId(folder: string, names: readonly string[]): Promise<string> {
  const numbers = names.flatMap((name) => numberName.exec(name)?.[1] ?? []).map(Number);
  let number = numbers.length === 0 ? randomInt(idCount) : Math.max(...numbers) + 1;
  while (!(await take(join(folder, `number-${number}`)))) number += 1;
  for (const old of numbers) if (old <= number - keptNumbers) await rm(join(folder, `number-${old}`), { force: true });
  return idOf(number);
}

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
