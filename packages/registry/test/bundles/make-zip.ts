/** Zip files for tests, each field of which can be wrong. */

import { crc32, deflateRawSync } from "node:zlib";

export interface ZipPart {
  readonly path: string | Buffer;
  readonly content?: string | Buffer;
  readonly mode?: number;
  readonly deflated?: boolean;
  /** Sizes follow the content. */
  readonly descriptor?: boolean;
  /** Fields that differ from the truth, in both headers. */
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly extra?: Buffer;
  /** What the header in front of the content says instead. */
  readonly local?: { readonly path?: string; readonly size?: number; readonly method?: number };
  /** Bytes behind the content that belong to it. */
  readonly tail?: Buffer;
  /** Bytes behind it that belong to no file. */
  readonly gap?: Buffer;
  /** Where the directory says that it begins. */
  readonly offset?: number;
}

export interface ZipEnd {
  readonly count?: number;
  readonly directory?: number;
  readonly disk?: number;
  readonly before?: Buffer;
  readonly comment?: Buffer;
}

export function makeZip(parts: readonly ZipPart[], end: ZipEnd = {}): Buffer {
  const before = end.before ?? Buffer.alloc(0);
  const contents: Buffer[] = [before];
  const directory: Buffer[] = [];
  let at = before.length;
  for (const part of parts) {
    const content = Buffer.from(part.content ?? "");
    const packed = Buffer.concat([part.deflated ? deflateRawSync(content) : content, part.tail ?? Buffer.alloc(0)]);
    const extra = part.extra ?? Buffer.alloc(0);
    const flags = (part.flags ?? 0x800) | (part.descriptor ? 8 : 0);
    const truth = {
      crc: part.crc ?? crc32(content),
      packed: packed.length,
      size: part.size ?? content.length,
      method: part.method ?? (part.deflated ? 8 : 0),
    };
    const name = Buffer.from(part.path as string);
    const localName = Buffer.from(part.local?.path ?? (part.path as string));
    const described = part.descriptor
      ? { crc: 0, packed: 0, size: 0 }
      : { ...truth, size: part.local?.size ?? truth.size };
    const header = words(
      [0x0403_4b50, 4],
      [20, 2],
      [flags, 2],
      [part.local?.method ?? truth.method, 2],
      [0, 2],
      [33, 2],
      [described.crc, 4],
      [described.packed, 4],
      [described.size, 4],
      [localName.length, 2],
      [extra.length, 2],
    );
    const descriptor = part.descriptor
      ? words([0x0807_4b50, 4], [truth.crc, 4], [truth.packed, 4], [truth.size, 4])
      : Buffer.alloc(0);
    const whole = Buffer.concat([header, localName, extra, packed, descriptor, part.gap ?? Buffer.alloc(0)]);
    contents.push(whole);
    directory.push(
      words(
        [0x0201_4b50, 4],
        [(3 << 8) | 20, 2],
        [20, 2],
        [flags, 2],
        [truth.method, 2],
        [0, 2],
        [33, 2],
        [truth.crc, 4],
        [truth.packed, 4],
        [truth.size, 4],
        [name.length, 2],
        [extra.length, 2],
        [0, 2],
        [0, 2],
        [0, 2],
        [((part.mode ?? (String(part.path).endsWith("/") ? 0o40755 : 0o100644)) << 16) >>> 0, 4],
        [part.offset ?? at, 4],
      ),
      name,
      extra,
    );
    at += whole.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const comment = end.comment ?? Buffer.alloc(0);
  const count = end.count ?? parts.length;
  return Buffer.concat([
    ...contents,
    ...directory,
    words(
      [0x0605_4b50, 4],
      [end.disk ?? 0, 2],
      [end.disk ?? 0, 2],
      [count, 2],
      [count, 2],
      [size, 4],
      [end.directory ?? at, 4],
      [comment.length, 2],
    ),
    comment,
  ]);
}

function words(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}

/** A manifest that is valid, with changes. */
export function manifestOf(changes: object = {}): string {
  return JSON.stringify({
    manifest_version: "0.3",
    name: "weather",
    version: "1.2.0",
    description: "Weather",
    author: { name: "Ada" },
    server: { type: "node", entry_point: "server/index.js" },
    ...changes,
  });
}
