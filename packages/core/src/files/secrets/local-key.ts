/**
 * The random key of this installation, created when first needed. Fairlead computes HMACs with it. An attacker
 * without the key cannot guess their inputs.
 */

import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { limits } from "../../limits.ts";
import { ensurePrivateFolder } from "../atomic/private-folder.ts";
import { createFile } from "../atomic/replace-file.ts";
import { readText, type TextFile } from "../read-text.ts";

const keyBytes = 32;
const written = /^[0-9a-f]{64}\n$/;

/** Reads the key. If the key is missing or damaged, creates a new one; older HMACs then no longer match. */
export async function localKey(file: string): Promise<Buffer> {
  const found = await readText(file, limits.settingsBytes);
  const before = toKey(found);
  if (before !== undefined) return before;
  const { randomBytes } = await import("node:crypto");
  await ensurePrivateFolder(dirname(file));
  const key = randomBytes(keyBytes);
  if (found.kind !== "absent") await rm(file, { force: true });
  // If two processes create a key, the first key stays.
  await createFile(file, `${key.toString("hex")}\n`);
  return toKey(await readText(file, limits.settingsBytes)) ?? key;
}

function toKey(found: TextFile): Buffer | undefined {
  return found.kind === "text" && written.test(found.text) ? Buffer.from(found.text.trimEnd(), "hex") : undefined;
}
