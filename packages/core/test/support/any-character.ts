/** Generates any character of Unicode. */

import fc from "fast-check";

const from = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code));

/**
 * Any code point but half a surrogate pair. `unit: "binary"` of fast-check generates the same characters, but first
 * builds a table of a million of them: that takes a second, and the table stays in memory.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.oneof(
  from(0, 0x7f),
  from(0x80, 0xd7ff),
  from(0xe000, 0xffff),
  from(0x1_0000, 0x10_ffff),
);
