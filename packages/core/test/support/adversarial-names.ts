/** Names that servers might give to themselves and to what they offer, made to run into each other. */

import fc from "fast-check";
import { anyCharacter } from "./any-character.ts";

const long = "x".repeat(100);
const awkward = [
  "a",
  "b",
  "a__b",
  "a__b__c",
  "b__c",
  "__",
  "_",
  "a b",
  "a_b",
  "a/b",
  "a.b",
  "a-b",
  ".a",
  "-a",
  "_.a",
  "1a",
  "_1a",
  "9".repeat(63),
  "9".repeat(64),
  " ",
  "é",
  "e\u0301",
  "а", // Cyrillic
  "ａ", // full width
  "a\u200b",
  "\ud800",
  "\udc00",
  "🙂",
  "__proto__",
  "constructor",
  "toString",
  // The same once the middle is cut out.
  `${long}create${long}`,
  `${long}delete${long}`,
  `${long}delete${long}_`,
  "a".repeat(200),
  `a__${"a".repeat(200)}`,
];

/** Never empty. */
export const awkwardName: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...awkward) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: fc.constantFrom("a", "_", ".", "1", " ", "é"), minLength: 1, maxLength: 4 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 80 }) },
);

/** What the API takes. */
export const acceptable: RegExp = /^[a-zA-Z_][a-zA-Z0-9_.-]{0,62}$/;
