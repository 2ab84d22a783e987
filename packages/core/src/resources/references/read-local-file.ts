/** Reads a file or lists a folder of the workspace as content blocks. */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { extname } from "node:path";
import type { Block } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { explain } from "../../files/system-error.ts";
import { isTextual, typeOfExtension } from "../../normalise/content/media-type.ts";
import { sizeWords } from "../../text/size-words.ts";
import { fileNamesIn, type LocalFile } from "./local-file.ts";

/** A larger file is only named. */
const mostBytes = 10_000_000;
const mostNames = 1000;
const namesShown = 200;

/**
 * Reads a file or folder.
 *
 * @throws HostError with a message for the user
 */
export async function readLocalFile(file: LocalFile): Promise<readonly Block[]> {
  try {
    return file.kind === "folder" ? await listFolder(file) : await readFile(file);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("internal", `${file.name} cannot be read: ${explain(error)}`, { cause: error });
  }
}

async function listFolder({ path }: LocalFile): Promise<readonly Block[]> {
  const names = [...(await fileNamesIn(path, mostNames))].sort();
  const shown = names.slice(0, namesShown);
  const rest =
    names.length > shown.length
      ? [`… and ${names.length - shown.length}${names.length === mostNames ? " or" : ""} more`]
      : [];
  return [
    {
      type: "text",
      text: [`A folder with ${names.length === 0 ? "nothing in it" : "these in it:"}`, ...shown, ...rest].join("\n"),
    },
  ];
}

async function readFile({ path, name }: LocalFile): Promise<readonly Block[]> {
  // The file may have been replaced by a link or a pipe since it was found.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    return toBlocks(await readBytes(handle, name), path);
  } finally {
    await handle.close();
  }
}

async function readBytes(handle: FileHandle, name: string): Promise<Buffer> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new HostError("usage", `${name} is not read: it is not a regular file`);
  if (stats.size > mostBytes)
    throw new HostError(
      "too_large",
      `${name} is not read: it has ${sizeWords(stats.size)}, the limit is ${sizeWords(mostBytes)}`,
    );
  const bytes = Buffer.alloc(stats.size);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
}

function toBlocks(bytes: Buffer, path: string): readonly Block[] {
  const type = typeOfExtension(extname(path).slice(1)) ?? "application/octet-stream";
  const text = isTextual(type) || type === "application/octet-stream" ? decode(bytes) : undefined;
  if (text !== undefined) return [{ type: "text", text }];
  const data = bytes.toString("base64");
  const kind = type.split("/", 1)[0];
  if (kind === "image" || kind === "audio") return [{ type: kind, data, mimeType: type }];
  return [{ type: "resource", resource: { uri: path, mimeType: type, blob: data } }];
}

/** Decodes text; undefined if the bytes are not text. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
