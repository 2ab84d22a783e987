import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mapNames } from "../../src/model/tool-names.ts";
import { anyCharacter } from "../support/any-character.ts";

const long = "a".repeat(64);

test.each([
  [
    ["read", "files.read", "a-b_c"],
    ["read", "files_read", "a-b_c"],
  ],
  [[`${long}b`], [long]],
  [
    ["a.b", "a_b"],
    [/^a_b_[0-9a-f]{8}$/, "a_b"],
  ],
  [
    ["a_b", "a.b", "a:b"],
    ["a_b", /^a_b_[0-9a-f]{8}$/, /^a_b_[0-9a-f]{8}$/],
  ],
  [
    [`${long}b`, `${long}c`],
    [/^a{55}_[0-9a-f]{8}$/, /^a{55}_[0-9a-f]{8}$/],
  ],
  [
    ["ä", "ö", ""],
    [/^__[0-9a-f]{8}$/, /^__[0-9a-f]{8}$/, /^__[0-9a-f]{8}$/],
  ],
])("%j become names that the API takes", (names, expected) => {
  const { toApi } = mapNames(names);
  expect(names.map(toApi)).toEqual(
    expected.map((each) => (typeof each === "string" ? each : expect.stringMatching(each))),
  );
});

test("a name that was never given out is what it is", () => {
  expect(mapNames(["files.read"]).toOurs("invented")).toBe("invented");
});

test("a name that looks like another one's digest takes no other name's place", () => {
  const { toApi } = mapNames(["a.b", "a_b"]);
  const planted = toApi("a.b");
  const names = mapNames(["a.b", "a_b", planted]);
  expect(new Set(["a.b", "a_b", planted].map(names.toApi)).size).toBe(3);
  expect(names.toApi(planted)).toBe(planted);
  expect(names.toOurs(planted)).toBe(planted);
});

test("whatever names there are, each has one of its own, and the way back leads to it", () => {
  const word = fc.oneof(fc.constantFrom("a", "b", ".", "_", "-", ":", "ä"), fc.constant(long));
  const name = fc.oneof(
    fc.array(word, { maxLength: 3 }).map((words) => words.join("")),
    fc.string({ unit: anyCharacter, maxLength: 80 }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 30 }), (names) => {
      const { toApi, toOurs } = mapNames(names);
      for (const each of names) {
        expect(toApi(each)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(toOurs(toApi(each))).toBe(each);
      }
    }),
    { numRuns: scaled(5_000), seed: seed() },
  );
});
