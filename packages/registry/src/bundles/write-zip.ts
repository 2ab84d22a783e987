/** Writes a zip file. The same files give the same bytes, so that a digest of the file means something. */

import { crc32 } from "node:zlib";

/** A file to write. */
export interface ZipContent {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable?: boolean;
}

/** Midnight of 1980-01-01, the first date of zip files. */
const date = (1 << 5) | 1;
/** Stored, made on Unix, names in UTF-8. Versions of Node compress differently. */
const common = { method: 0, madeBy: (3 << 8) | 20, needs: 20, flags: 1 << 11 };

/** Returns the bytes of a zip file with these files, in this order. */
export function writeZip(files: readonly ZipContent[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, isExecutable = false } of files) {
    const name = Buffer.from(path);
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(content), 0);
    sizes.writeUInt32LE(content.length, 4);
    sizes.writeUInt32LE(content.length, 8);
    const local = Buffer.alloc(14);
    local.writeUInt32LE(0x04034b50, 0);
    writeWords(local, 4, [common.needs, common.flags, common.method, 0, date]);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(name.length, 0);
    parts.push(local, sizes, lengths, name, content);

    const central = Buffer.alloc(16);
    central.writeUInt32LE(0x02014b50, 0);
    writeWords(central, 4, [common.madeBy, common.needs, common.flags, common.method, 0, date]);
    const rest = Buffer.alloc(18);
    rest.writeUInt16LE(name.length, 0);
    rest.writeUInt16LE(isExecutable ? 0o100755 : 0o100644, 12);
    rest.writeUInt32LE(offset, 14);
    directory.push(central, sizes, rest, name);
    offset += local.length + sizes.length + lengths.length + name.length + content.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  writeWords(end, 8, [files.length, files.length]);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

function writeWords(buffer: Buffer, at: number, words: readonly number[]): void {
  for (const [index, word] of words.entries()) buffer.writeUInt16LE(word, at + 2 * index);
}
