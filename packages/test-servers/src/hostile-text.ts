/** Random texts made of what terminals obey and readers do not see. */

import type { Random } from "./promises.ts";

const pieces: readonly ((random: Random) => string)[] = [
  (random) => `\u001b[${random(99)};${random(99)}${"ABCDEFGHJKSTfhlmnsu"[random(19)]}`,
  (random) => `\u009b${random(99)}${"ABHJKm"[random(6)]}`,
  (random) => `\u001b]${[0, 2, 8, 9, 52, 1337, 633][random(7)]};;text${random(2) === 0 ? "\u0007" : "\u001b\\"}`,
  (random) => `${["\u001bP", "\u001b_", "\u001b^", "\u001bX", "\u0090", "\u009f"][random(6)]}q\u001b\\`,
  (random) => String.fromCodePoint(random(0x20)),
  (random) => String.fromCodePoint(0x7f + random(0x21)),
  (random) => ["\u202a", "\u202e", "\u2066", "\u2069", "\u200f", "\u061c"][random(6)] ?? "",
  (random) => String.fromCodePoint(0xe0000 + random(0x80)),
  (random) =>
    ["\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\ufe0f", "\u{e0100}", "\u3164", "\u2800"][random(9)] ?? "",
  (random) => "\u0301".repeat(random(30)),
  (random) => String.fromCharCode(0xd800 + random(0x800)),
  (random) => ["\u2028", "\u2029", "\u0085", "\u00a0", "\r", "\r\n", "\t", "\n"][random(8)] ?? "",
  (random) => " ".repeat(random(400)),
  (random) => String.fromCodePoint(random(0x110000)),
  (random) => ["plain words", "github", "pаypal", "中文", "👩‍👩‍👧", "&#27;[2J", "\\u001b[2J", "$(id)"][random(8)] ?? "",
];

export function hostileText(random: Random): string {
  return Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]?.(random) ?? "").join("");
}
