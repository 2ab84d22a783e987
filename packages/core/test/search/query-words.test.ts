import { expect, test } from "vitest";
import { queryWords } from "../../src/search/query-words.ts";

const found = (query: string, known: string): readonly string[] => [...queryWords(query, new Map([[known, 1]])).keys()];

test.each([
  ["another letter", "calemdar"],
  ["a letter too few", "calndar"],
  ["a letter too many", "callendar"],
  ["another last letter", "calendat"],
  ["no last letter", "calenda"],
  ["a letter too many at the end", "calendart"],
  ["neighbouring letters exchanged", "calnedar"],
  ["the last two letters exchanged", "calendra"],
])("a word with %s finds the known word: %s", (_what, word) => {
  expect(found(word, "calendar")).toContain("calendar");
});

test.each([
  ["two other letters", "calemdat"],
  ["two letters too few", "calnda"],
  ["two letters too many", "calendarxy"],
  ["distant letters exchanged", "celandar"],
  ["neighbouring letters exchanged and another one wrong", "calnedat"],
  ["another first letter", "kalendar"],
])("a word with %s does not: %s", (_what, word) => {
  expect(found(word, "calendar")).not.toContain("calendar");
});

test("a word of four letters finds only itself", () => {
  expect(found("fire", "file")).not.toContain("file");
});
