/** Saves binary content from servers into new files that only the owner can read. Never overwrites a file. */

import { stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { explain, makeFolder, systemCode, unless } from "@fairlead/core/files";
import { toMediaType } from "@fairlead/core/normalise";
import type { CallResult } from "@fairlead/core/request";

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

/**
 * Creates the folder of `--save`. Call it before the tool runs: if the folder cannot be created, the tool must not run.
 * @throws HostError `usage` if the folder cannot be created
 */
export async function openSaveFolder(folder: string, cwd: string): Promise<string> {
  const path = resolve(cwd, folder);
  try {
    await makeFolder(path);
    return path;
  } catch (error) {
    throw new HostError("usage", `--save ${folder}: cannot create the folder: ${explain(error)}`, { cause: error });
  }
}

/** The path of the file written for each content block, and a warning for each block that could not be saved. */
export interface SavedMedia {
  readonly paths: ReadonlyMap<ResultBlock, string>;
  readonly warnings: readonly string[];
}

/** The result without files and warnings. */
export const nothingSaved: SavedMedia = { paths: new Map(), warnings: [] };

/**
 * Saves the blocks of a call's result. The tool has already run, so an error while writing becomes a warning and the
 * result is still shown.
 */
export async function saveMedia(blocks: readonly ResultBlock[], folder: string, source: string): Promise<SavedMedia> {
  const paths = new Map<ResultBlock, string>();
  const warnings: string[] = [];
  for (const block of blocks) {
    const media = mediaOf(block);
    if (media === undefined) continue;
    try {
      paths.set(block, await writeNewFile(media, folder, source));
    } catch (error) {
      warnings.push(`cannot save the ${media.what} into ${folder}: ${explain(error)}`);
    }
  }
  return { paths, warnings };
}

/** Where to save: a folder in which Fairlead chooses the file names, or one file that the user named. */
export type SavePlace =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "file"; readonly path: string };

/**
 * Returns where to save. A path is a folder if the folder exists or the path ends with a slash. Any other path is a
 * file.
 */
export async function openSavePlace(given: string, cwd: string): Promise<SavePlace> {
  const path = resolve(cwd, given);
  const found = await stat(path).catch(unless("ENOENT", "ENOTDIR"));
  if (found?.isDirectory() || /[\\/]$/.test(given)) return { kind: "folder", path: await openSaveFolder(given, cwd) };
  return { kind: "file", path };
}

/**
 * Saves the contents of a resource. The user can repeat the read, so an error while writing fails the command.
 * @throws HostError `usage`
 */
export async function saveAll(
  blocks: readonly ResultBlock[],
  destination: SavePlace,
  source: string,
): Promise<SavedMedia> {
  const { kind, path } = destination;
  if (kind === "folder") {
    const savedMedia = await saveMedia(blocks, path, source);
    if (savedMedia.warnings[0] !== undefined) throw new HostError("usage", savedMedia.warnings[0]);
    return savedMedia;
  }
  const [only, second] = blocks.filter(mediaOf);
  const media = only && mediaOf(only);
  if (only === undefined || media === undefined) return nothingSaved;
  if (second)
    throw new HostError(
      "usage",
      `--save ${path}: the resource has more than one part; give a folder instead of a file`,
    );
  try {
    await writeNew(path, bytesOf(media));
  } catch (error) {
    const reason = systemCode(error) === "EEXIST" ? "the file already exists" : explain(error);
    throw new HostError("usage", `--save ${path}: ${reason}`, { cause: error });
  }
  return { paths: new Map([[only, path]]), warnings: [] };
}

/** Writes a new file. The flag `wx` fails if anything with that name exists, even a symbolic link. */
function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  return writeFile(path, bytes, { flag: "wx", mode: 0o600 });
}

function bytesOf({ data }: Media): Uint8Array {
  return Buffer.from(data, "base64");
}

async function writeNewFile(media: Media, folder: string, source: string): Promise<string> {
  const bytes = bytesOf(media);
  // Server and tool names are untrusted. A dash at the start would make the file name look like an option.
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

/** A content block of a tool's result. */
export type ResultBlock = CallResult["content"][number];

/** An image, audio or other binary content, in base64. */
export interface Media {
  readonly what: "image" | "audio" | "resource";
  readonly mimeType: string;
  readonly data: string;
}

/** Returns a block's binary content. Returns undefined if the block has none. */
export function mediaOf(block: ResultBlock): Media | undefined {
  if (block.type === "image" || block.type === "audio")
    return { what: block.type, mimeType: block.mimeType, data: block.data };
  if (block.type !== "resource") return undefined;
  const { text, blob, mimeType = "application/octet-stream" } = block.resource;
  return text === undefined && blob !== undefined ? { what: "resource", mimeType, data: blob } : undefined;
}

/** Returns the blocks as the server sent them, including unknown types. */
export function contentDocument(content: readonly ResultBlock[]): readonly unknown[] {
  return content.map((block) => (block.type === "unknown" ? block.raw : block));
}
