/** Finds files that the user refers to. The real path of a file, with links resolved, must be inside the workspace. */

import { constants } from "node:fs";
import { type FileHandle, open, opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, relative, resolve } from "node:path";
import type { Block } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { isInside } from "../../files/real-path.ts";
import { explain, systemCode } from "../../files/system-error.ts";
import { isTextual, typeOfExtension } from "../../normalise/content/media-type.ts";
import { closest } from "../../text/closest.ts";
import { sizeWords } from "../../text/size-words.ts";

/** A file or folder inside the workspace. */
export interface LocalFile {
  readonly kind: "file" | "folder";
  /** The real path, with links resolved. */
  readonly path: string;
  /** The path relative to the workspace. */
  readonly name: string;
}

/** The file, or the reason why there is none to read. */
export type FileFinding =
  | LocalFile
  /** There is no such file. `near` is a file with a similar name in the same folder. */
  | { readonly kind: "absent"; readonly near?: string }
  /** Fairlead does not read the file. `reason` continues a sentence that begins with "it". */
  | { readonly kind: "refused"; readonly reason: string };

/** Finds a file by a path that the user typed. Never rejects. */
export type FindFile = (path: string) => Promise<FileFinding>;

const absences: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "EINVAL"]);
const mostNames = 1000;

export function createFileFinder(workspace: string): FindFile {
  return async (path) => {
    // A network path counts as absent. Even checking whether it exists would contact another machine.
    if (path.includes("\0") || /^[\\/]{2}/.test(path)) return { kind: "absent" };
    if (/^~[\\/]/.test(path)) return outside;
    try {
      return await find(path, await realpath(workspace));
    } catch (error) {
      return { kind: "refused", reason: `cannot be read: ${explain(error)}` };
    }
  };
}

const outside: FileFinding = { kind: "refused", reason: "is outside the workspace" };

async function find(path: string, root: string): Promise<FileFinding> {
  const full = resolve(root, path);
  let real: string;
  try {
    real = await realpath(full);
  } catch (error) {
    if (!absences.has(systemCode(error) ?? "")) throw error;
    const near = await nearName(full, root);
    return { kind: "absent", near };
  }
  if (!isInside(real, root)) return outside;
  const stats = await stat(real);
  if (!stats.isFile() && !stats.isDirectory()) return { kind: "refused", reason: "is neither a file nor a folder" };
  return { kind: stats.isFile() ? "file" : "folder", path: real, name: relative(root, real) || "." };
}

/**
 * Suggests a file with a similar name, but only if the text is clearly a path. A single word after `@` may be a
 * person's name.
 */
async function nearName(full: string, root: string): Promise<string | undefined> {
  const isPath = dirname(full) !== root || basename(full).slice(1).includes(".");
  const folder = await realpath(dirname(full)).catch(() => undefined);
  if (!isPath || folder === undefined || !isInside(folder, root)) return undefined;
  const names = await fileNamesIn(folder, mostNames).catch(() => []);
  const near = closest(basename(full), names);
  return near === undefined ? undefined : relative(root, resolve(folder, near));
}

/**
 * The names in a folder. The names of folders end with a slash. If the folder contains more than `most` names, returns
 * only some of them.
 */
export async function fileNamesIn(folder: string, most: number): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (names.length === most) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return names;
}

/** Maximum bytes of a file. If a file is larger, the model gets only its name. */
const mostBytes = 10_000_000;
const mostListed = 1000;
const namesShown = 200;

/** Reads a file or folder. @throws HostError with a message for the user */
export async function readLocalFile(file: LocalFile): Promise<readonly Block[]> {
  try {
    return file.kind === "folder" ? await listFolder(file) : await readFile(file);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("internal", `${file.name} cannot be read: ${explain(error)}`, { cause: error });
  }
}

async function listFolder({ path }: LocalFile): Promise<readonly Block[]> {
  const names = [...(await fileNamesIn(path, mostListed))].sort();
  const shown = names.slice(0, namesShown);
  const rest =
    names.length > shown.length
      ? [`… and ${names.length - shown.length}${names.length === mostListed ? " or" : ""} more`]
      : [];
  return [
    {
      type: "text",
      text: [`A folder with ${names.length === 0 ? "no entries" : "these entries:"}`, ...shown, ...rest].join("\n"),
    },
  ];
}

async function readFile({ path, name }: LocalFile): Promise<readonly Block[]> {
  // Checks the file a second time, because a link or a pipe may have replaced it in the meantime.
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
      `${name} is not read: its size is ${sizeWords(stats.size)}, the limit is ${sizeWords(mostBytes)}`,
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

function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
