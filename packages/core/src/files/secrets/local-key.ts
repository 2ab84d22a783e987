/** The random key of this installation, created on first use, for digests that reveal nothing without it. */

import { link, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { limits } from "../../limits.ts";
import { ensurePrivateFolder, privateFileMode } from "../atomic/private-folder.ts";
import { readText, type TextFile } from "../read-text.ts";
import { unless } from "../system-error.ts";

const keyBytes = 32;
const written = /^[0-9a-f]{64}\n$/;

/** Reads the key. Creates one if it is missing or damaged; digests made with a damaged key no longer match. */
export async function localKey(file: string): Promise<Buffer> {
  const found = await readText(file, limits.settingsBytes);
  const before = toKey(found);
  if (before !== undefined) return before;
  const { randomBytes } = await import("node:crypto");
  await ensurePrivateFolder(dirname(file));
  const key = randomBytes(keyBytes);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, `${key.toString("hex")}\n`, { mode: privateFileMode, flag: "wx" });
    if (found.kind !== "absent") await rm(file, { force: true });
    // A link appears with its whole content or not at all; of two processes the first one's key counts.
    await link(temporary, file).catch(unless("EEXIST"));
  } finally {
    await rm(temporary, { force: true });
  }
  return toKey(await readText(file, limits.settingsBytes)) ?? key;
}

function toKey(found: TextFile): Buffer | undefined {
  return found.kind === "text" && written.test(found.text) ? Buffer.from(found.text.trimEnd(), "hex") : undefined;
}
