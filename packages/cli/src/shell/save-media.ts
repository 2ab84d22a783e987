/** Puts what a server sent as bytes into files: under names of ours, for the owner only, never over a file that is there. */

import { stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { makeFolder } from "@fairlead/core/files/atomic/make-folder";
import { explain, systemCode, unless } from "@fairlead/core/files/system-error";
import { toMediaType } from "@fairlead/core/normalise/content/media-type";
import { type Media, mediaOf, type ResultBlock } from "./content-block.ts";

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
  ["application/json", "json"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
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
  readonly paths: ReadonlyMap<ResultBlock, string>;
  readonly warnings: readonly string[];
}

export const nothingSaved: Saved = { paths: new Map(), warnings: [] };

/** The tool has run: a file that cannot be written is a warning, so that the rest of its answer is still shown. */
export async function saveMedia(blocks: readonly ResultBlock[], folder: string, source: string): Promise<Saved> {
  const paths = new Map<ResultBlock, string>();
  const warnings: string[] = [];
  for (const block of blocks) {
    const media = mediaOf(block);
    if (media === undefined) continue;
    try {
      paths.set(block, await writeNewFile(media, folder, source));
    } catch (error) {
      warnings.push(`the ${media.what} could not be saved into ${folder}: ${explain(error)}`);
    }
  }
  return { paths, warnings };
}

/** A folder, where files get names of ours, or the one file that the person names. */
export type SavePlace =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "file"; readonly path: string };

/** What is there and is a folder is one, and so is what is written like one. */
export async function openSavePlace(given: string, cwd: string): Promise<SavePlace> {
  const path = resolve(cwd, given);
  const found = await stat(path).catch(unless("ENOENT", "ENOTDIR"));
  if (found?.isDirectory() || /[\\/]$/.test(given)) return { kind: "folder", path: await openSaveFolder(given, cwd) };
  return { kind: "file", path };
}

/** Nothing has been done that could not be done again: what cannot be saved is an error. */
export async function saveAll(blocks: readonly ResultBlock[], place: SavePlace, source: string): Promise<Saved> {
  const { kind, path } = place;
  if (kind === "folder") {
    const saved = await saveMedia(blocks, path, source);
    if (saved.warnings[0] !== undefined) throw new HostError("usage", saved.warnings[0]);
    return saved;
  }
  const [only, second] = blocks.filter(mediaOf);
  const media = only && mediaOf(only);
  if (only === undefined || media === undefined) return nothingSaved;
  if (second) throw new HostError("usage", `--save ${path}: there is more than one content; name a folder`);
  try {
    await writeNew(path, bytesOf(media));
  } catch (error) {
    const reason = systemCode(error) === "EEXIST" ? "there is a file of that name already" : explain(error);
    throw new HostError("usage", `--save ${path}: ${reason}`, { cause: error });
  }
  return { paths: new Map([[only, path]]), warnings: [] };
}

/** `wx` fails on whatever is there already, a symbolic link too. */
function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  return writeFile(path, bytes, { flag: "wx", mode: 0o600 });
}

function bytesOf({ data }: Media): Uint8Array {
  return Buffer.from(data, "base64");
}

async function writeNewFile(media: Media, folder: string, source: string): Promise<string> {
  const bytes = bytesOf(media);
  // The source's names are foreign; a leading dash would make the file look like an option.
  const name = source
    .replaceAll(/[^\w-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 100);
  const extension = extensions.get(toMediaType(media.mimeType)) ?? "bin";
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}-${number}.${extension}`);
    try {
      await writeNew(path, bytes);
      return path;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}
