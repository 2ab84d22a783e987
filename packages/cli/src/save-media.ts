/** Puts what a tool sent as bytes into files: under names of ours, for the owner only, never over a file that is there. */

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { makeFolder } from "@fairlead/core/files/make-folder";
import { explain, systemCode } from "@fairlead/core/files/system-error";
import type { ContentBlock, Media } from "./content-block.ts";

const extensions: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/wav", "wav"],
  ["application/pdf", "pdf"],
]);

/** Before the call: a folder that cannot be made is noticed while nothing has run yet. */
export async function openSaveFolder(folder: string, cwd: string): Promise<string> {
  const path = resolve(cwd, folder);
  try {
    await makeFolder(path);
    return path;
  } catch (error) {
    throw new HostError("usage", `--save ${folder}: the folder cannot be made: ${explain(error)}`, { cause: error });
  }
}

export interface Saved {
  readonly paths: ReadonlyMap<ContentBlock, string>;
  readonly warnings: readonly string[];
}

export const nothingSaved: Saved = { paths: new Map(), warnings: [] };

/** The tool has run: a file that cannot be written is a warning, so that the rest of its answer is still shown. */
export async function saveMedia(blocks: readonly ContentBlock[], folder: string, source: string): Promise<Saved> {
  const paths = new Map<ContentBlock, string>();
  const warnings: string[] = [];
  for (const block of blocks) {
    if (block.kind !== "media") continue;
    try {
      paths.set(block, await writeNewFile(block, folder, source));
    } catch (error) {
      warnings.push(`the ${block.what} could not be saved into ${folder}: ${explain(error)}`);
    }
  }
  return { paths, warnings };
}

async function writeNewFile({ mimeType, data }: Media, folder: string, source: string): Promise<string> {
  const bytes = Buffer.from(data, "base64");
  // The source's names are foreign; a leading dash would make the file look like an option.
  const name = source
    .replaceAll(/[^\w-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 100);
  const extension = extensions.get(mimeType.toLowerCase()) ?? "bin";
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}-${number}.${extension}`);
    try {
      // `wx` fails on whatever is there already, a symbolic link too.
      await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
      return path;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}
