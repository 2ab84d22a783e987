/**
 * Reads the zip file of a bundle. Strict, because what unpacks it here and what checked it elsewhere must see the same
 * files: every byte belongs to exactly one file or to the directory at the end, and both describe each file alike.
 */

import { crc32, inflateRawSync } from "node:zlib";
import { errorMessage } from "@fairlead/wire/text";

/** Why a bundle is not used. The message may quote names in the bundle, so print it only as `SafeText`. */
export class BundleRefusal extends Error {}

/** One file of a bundle. */
export interface BundleFile {
  /** A relative path with slashes, without `..`. */
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** @throws BundleRefusal if the content does not match its description */
  readonly read: () => Buffer;
}

/** How much a bundle may contain. Bundles with their own interpreter have some ten thousand files. */
export const bundleLimits: Readonly<
  Record<"fileBytes" | "unpackedBytes" | "files" | "pathBytes" | "ratio" | "ratioFrom", number>
> = {
  fileBytes: 256 * 1024 * 1024,
  unpackedBytes: 512 * 1024 * 1024,
  files: 50_000,
  pathBytes: 1024,
  /** How many times larger a file may become, from `ratioFrom` bytes on. Text becomes about ten times larger. */
  ratio: 200,
  ratioFrom: 1024 * 1024,
};

const signatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  zip64Locator: 0x07064b50,
  descriptor: 0x08074b50,
};
const endSize = 22;
const flags = { encrypted: 1, descriptor: 1 << 3 };
/** How well it is compressed (bits 1 and 2), sizes after the data (3), names in UTF-8 (11). */
const knownFlags = 0b1000_0000_1110;
const methods = { stored: 0, deflated: 8 };
/** Extra fields that would give a file another size, another name or another content. */
const misleadingExtras = new Map([
  [0x0001, "zip64 sizes"],
  [0x7075, "a second name"],
  [0x9901, "encryption"],
]);

interface Header {
  readonly path: string;
  readonly isFolder: boolean;
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly isExecutable: boolean;
}

/**
 * Reads the list of files. Decompresses nothing.
 *
 * @throws BundleRefusal
 */
export function readZip(bytes: Buffer): readonly BundleFile[] {
  const { end, directory, count } = findDirectory(bytes);
  const headers: Header[] = [];
  let at = directory;
  for (let index = 0; index < count; index += 1) {
    const { header, next } = readHeader(bytes, at, end);
    headers.push(header);
    at = next;
  }
  if (at !== end) throw new BundleRefusal("its directory has more bytes than its files need");
  checkSizes(headers);
  checkPaths(headers);
  const contents = findContents(bytes, headers, directory);
  return headers.flatMap((header) => {
    const { path, size, isExecutable } = header;
    if (header.isFolder) return [];
    return [{ path, size, isExecutable, read: () => unpack(header, contents.get(header) ?? Buffer.alloc(0)) }];
  });
}

function findDirectory(bytes: Buffer): { readonly end: number; readonly directory: number; readonly count: number } {
  const found: number[] = [];
  for (let at = bytes.length - endSize; at >= 0 && at >= bytes.length - endSize - 0xffff; at -= 1)
    if (bytes.readUInt32LE(at) === signatures.end && at + endSize + bytes.readUInt16LE(at + 20) === bytes.length)
      found.push(at);
  const [end] = found;
  if (end === undefined) throw new BundleRefusal("it is not a zip file, or it has data after its end");
  if (found.length > 1) throw new BundleRefusal("it has two ends, so programs could read different files in it");
  if (end >= 20 && bytes.readUInt32LE(end - 20) === signatures.zip64Locator) throw zip64();
  const [disk, firstDisk, here, count] = [4, 6, 8, 10].map((field) => bytes.readUInt16LE(end + field));
  const [size = 0, directory = 0] = [12, 16].map((field) => bytes.readUInt32LE(end + field));
  if ([disk, firstDisk, here, count].includes(0xffff) || [size, directory].includes(0xffffffff)) throw zip64();
  if (disk !== 0 || firstDisk !== 0 || here !== count) throw new BundleRefusal("it is a part of several files");
  if (count === undefined || count > bundleLimits.files)
    throw new BundleRefusal(`it has more than ${bundleLimits.files} files`);
  if (directory + size !== end) throw new BundleRefusal("its directory is not where its end says");
  return { end, directory, count };
}

function zip64(): BundleRefusal {
  return new BundleRefusal("it has zip64 sizes, which no bundle needs");
}

function readHeader(bytes: Buffer, at: number, end: number): { readonly header: Header; readonly next: number } {
  if (at + 46 > end || bytes.readUInt32LE(at) !== signatures.central)
    throw new BundleRefusal("its directory is damaged");
  const [nameSize = 0, extraSize = 0, commentSize = 0, disk = 0] = [28, 30, 32, 34].map((field) =>
    bytes.readUInt16LE(at + field),
  );
  const next = at + 46 + nameSize + extraSize + commentSize;
  if (next > end) throw new BundleRefusal("its directory is damaged");
  const name = bytes.subarray(at + 46, at + 46 + nameSize);
  const path = textOf(name);
  checkExtras(bytes.subarray(at + 46 + nameSize, at + 46 + nameSize + extraSize), path);
  const isFolder = path.endsWith("/");
  const [crc = 0, packed = 0, size = 0] = [16, 20, 24].map((field) => bytes.readUInt32LE(at + field));
  const [given = 0, method = 0] = [8, 10].map((field) => bytes.readUInt16LE(at + field));
  const offset = bytes.readUInt32LE(at + 42);
  if ([packed, size, offset].includes(0xffffffff)) throw zip64();
  if (disk !== 0) throw new BundleRefusal("it is a part of several files");
  if ((given & flags.encrypted) !== 0) throw new BundleRefusal(`"${path}" is encrypted`);
  if ((given & ~knownFlags) !== 0) throw new BundleRefusal(`"${path}" uses an unknown feature of zip files`);
  if (method !== methods.stored && method !== methods.deflated)
    throw new BundleRefusal(`"${path}" is compressed by method ${method}, which Fairlead does not read`);
  // Files made on Unix have their mode here.
  const mode = bytes[at + 5] === 3 ? bytes.readUInt16LE(at + 40) : 0;
  const type = mode & 0o170000;
  if (type !== 0 && type !== (isFolder ? 0o040000 : 0o100000))
    throw new BundleRefusal(`"${path}" is ${type === 0o120000 ? "a symbolic link" : "not an ordinary file"}`);
  if (isFolder && size !== 0) throw new BundleRefusal(`the folder "${path}" has content`);
  const header = { path: isFolder ? path.slice(0, -1) : path, isFolder, name, flags: given, method, crc, packed, size };
  return { header: { ...header, offset, isExecutable: (mode & 0o111) !== 0 }, next };
}

function textOf(name: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    throw new BundleRefusal("the name of a file is not UTF-8");
  }
}

function checkExtras(extras: Buffer, path: string): void {
  for (let at = 0; at < extras.length; ) {
    if (at + 4 > extras.length) throw new BundleRefusal(`the description of "${path}" is damaged`);
    const misleading = misleadingExtras.get(extras.readUInt16LE(at));
    if (misleading !== undefined) throw new BundleRefusal(`the description of "${path}" has ${misleading}`);
    at += 4 + extras.readUInt16LE(at + 2);
    if (at > extras.length) throw new BundleRefusal(`the description of "${path}" is damaged`);
  }
}

function checkSizes(headers: readonly Header[]): void {
  let total = 0;
  for (const { path, size, packed, method } of headers) {
    total += size;
    if (method === methods.stored && packed !== size) throw new BundleRefusal(`"${path}" has two different sizes`);
    if (size > bundleLimits.ratioFrom && size > packed * bundleLimits.ratio)
      throw new BundleRefusal(`"${path}" would become more than ${bundleLimits.ratio} times larger`);
  }
  if (total > bundleLimits.unpackedBytes)
    throw new BundleRefusal(`unpacked, it would need more than ${bundleLimits.unpackedBytes / 1024 / 1024} MB`);
}

function checkPaths(headers: readonly Header[]): void {
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const { path, name, isFolder } of headers) {
    const why = whyNotPath(path, name.length);
    if (why !== undefined) throw new BundleRefusal(`"${path}" ${why}`);
    // Some file systems do not tell such names apart, so one file would replace the other.
    const same = path.normalize("NFC").toUpperCase().toLowerCase();
    if (files.has(same) || (isFolder ? false : folders.has(same)))
      throw new BundleRefusal(`"${path}" occurs twice, or differs from another name only by case or accents`);
    if (isFolder) folders.add(same);
    else files.add(same);
    for (let at = same.lastIndexOf("/"); at > 0; at = same.lastIndexOf("/", at - 1)) {
      const folder = same.slice(0, at);
      if (files.has(folder)) throw new BundleRefusal(`"${path}" is in a folder that is a file`);
      folders.add(folder);
    }
  }
}

/** Why a path in a bundle is refused: what follows the path. Undefined if it stays inside the folder of the bundle. */
export function whyNotPath(path: string, bytes: number = Buffer.byteLength(path)): string | undefined {
  if (path === "") return "is an empty name";
  if (bytes > bundleLimits.pathBytes) return "is a too long name";
  if (/[\p{Cc}\\:]/u.test(path)) return "has a backslash, a colon or a control character in its name";
  if (path.startsWith("/")) return "is an absolute path";
  const parts = path.split("/");
  if (parts.includes("..")) return "leads out of the bundle";
  if (parts.some((part) => part === "" || part === ".")) return "is not a plain path";
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return "is a too long name";
  // Windows ignores them at the end of a name.
  return parts.some((part) => /[. ]$/.test(part)) ? "ends with a dot or a space" : undefined;
}

/** Finds the bytes of each file. No byte before the directory may be left, and none may belong to two files. */
function findContents(bytes: Buffer, headers: readonly Header[], directory: number): ReadonlyMap<Header, Buffer> {
  const contents = new Map<Header, Buffer>();
  let at = 0;
  for (const header of [...headers].sort((a, b) => a.offset - b.offset)) {
    const { path, offset, packed } = header;
    if (offset !== at) throw new BundleRefusal(`there are bytes before "${path}" that belong to no file or to two`);
    const begin = checkLocalHeader(bytes, header, directory);
    at = begin + packed;
    if (at > directory) throw new BundleRefusal(`"${path}" is not whole`);
    contents.set(header, bytes.subarray(begin, at));
    if ((header.flags & flags.descriptor) !== 0) at = afterDescriptor(bytes, header, at, directory);
  }
  if (at !== directory) throw new BundleRefusal("there are bytes after its last file that belong to no file");
  return contents;
}

/** Compares the header in front of a file with the directory. Returns where the content begins. */
function checkLocalHeader(bytes: Buffer, header: Header, directory: number): number {
  const { path, offset, name } = header;
  const differs = (): BundleRefusal => new BundleRefusal(`"${path}" is described in two different ways`);
  if (offset + 30 > directory || bytes.readUInt32LE(offset) !== signatures.local) throw differs();
  const [given, method, nameSize = 0, extraSize = 0] = [6, 8, 26, 28].map((field) =>
    bytes.readUInt16LE(offset + field),
  );
  const begin = offset + 30 + nameSize + extraSize;
  if (begin > directory || given !== header.flags || method !== header.method) throw differs();
  if (!bytes.subarray(offset + 30, offset + 30 + nameSize).equals(name)) throw differs();
  checkExtras(bytes.subarray(offset + 30 + nameSize, begin), path);
  const [crc, packed, size] = [14, 18, 22].map((field) => bytes.readUInt32LE(offset + field));
  const isLater = (header.flags & flags.descriptor) !== 0 && crc === 0 && packed === 0 && size === 0;
  if (!isLater && (crc !== header.crc || packed !== header.packed || size !== header.size)) throw differs();
  return begin;
}

/** Sizes that follow the content have to be those of the directory. Their signature is optional. */
function afterDescriptor(bytes: Buffer, { path, crc, packed, size }: Header, at: number, directory: number): number {
  const begin = at + 4 <= directory && bytes.readUInt32LE(at) === signatures.descriptor ? at + 4 : at;
  const values = [0, 4, 8].map((field) => (begin + field + 4 <= directory ? bytes.readUInt32LE(begin + field) : -1));
  if (values[0] === crc && values[1] === packed && values[2] === size) return begin + 12;
  throw new BundleRefusal(`"${path}" is described in two different ways`);
}

function unpack({ path, method, size, crc }: Header, packed: Buffer): Buffer {
  const content = method === methods.stored ? packed : inflate(path, packed, size);
  if (content.length !== size || crc32(content) !== crc) throw new BundleRefusal(`the content of "${path}" is damaged`);
  return content;
}

function inflate(path: string, packed: Buffer, size: number): Buffer {
  try {
    const options = { maxOutputLength: Math.max(size, 1), info: true };
    // With `info`, Node also tells how much of the input was read, which its types leave out.
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (engine.bytesWritten !== packed.length) throw new BundleRefusal(`"${path}" has bytes after its end`);
    return buffer;
  } catch (error) {
    if (error instanceof BundleRefusal) throw error;
    const isLarger = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw new BundleRefusal(
      isLarger ? `"${path}" is larger than it says` : `"${path}" cannot be decompressed: ${errorMessage(error)}`,
    );
  }
}
