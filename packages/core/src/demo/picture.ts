/** Draws small pictures and writes them as PNG files, with one byte per pixel and a palette of eight colours. */

type Shade = (x: number, y: number) => number;

/** The patterns. Each function maps a point, with coordinates between -1 and 1, to a shade between 0 and 1. */
const shades: ReadonlyMap<string, Shade> = new Map<string, Shade>([
  ["waves", (x, y) => (1 + Math.sin(9 * y + 2 * Math.sin(4 * x))) / 2],
  ["rings", (x, y) => (1 + Math.cos(12 * Math.hypot(x, y))) / 2],
  ["squares", (x, y) => (Math.floor(4 * x) + Math.floor(4 * y)) & 1],
]);

/** Names of the patterns that `drawPicture` can draw. */
export const patterns: readonly string[] = [...shades.keys()];

const palette = Buffer.from("06283d0b3c5d13567d2274a04395bf75b6d3aed6e6e3f4fb", "hex");
const lastShade = palette.length / 3 - 1;

/** Draws a square picture of `size` × `size` pixels. Returns the bytes of a PNG file. */
export async function drawPicture(pattern: string, size: number): Promise<Buffer> {
  const { crc32, deflateSync } = await import("node:zlib");

  function chunk(type: string, data: Buffer): Buffer {
    const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
    return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
  }
  /*
   * The last five bytes of the PNG header: 8 bits per pixel, a palette (colour type 3), default compression and filter
   * method, no interlacing.
   */
  const header = Buffer.concat([uint32(size), uint32(size), Buffer.from([8, 3, 0, 0, 0])]);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", deflateSync(pixels(shades.get(pattern) ?? (() => 0), size))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The rows of the picture, from top to bottom. The zero before each row means "not filtered". */
function pixels(shade: Shade, size: number): Buffer {
  const rows = Buffer.alloc(size * (size + 1));
  const at = (pixel: number): number => (2 * pixel + 1) / size - 1;
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1) rows[y * (size + 1) + x + 1] = Math.round(lastShade * shade(at(x), at(y)));
  return rows;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
