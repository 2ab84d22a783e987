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
  ["two neighbouring letters replaced", "calxydar"],
  ["a letter moved to the right and another one wrong", "calxedar"],
  ["a letter moved to the left and another one wrong", "calnxdar"],
])("a word with %s does not: %s", (_what, word) => {
  expect(found(word, "calendar")).not.toContain("calendar");
});

test("a word of four letters finds only itself", () => {
  expect(found("fire", "file")).not.toContain("file");
});

test("a word of five letters may be misspelt", () => {
  expect(found("zabra", "zebra")).toEqual(["zabra", "zebra"]);
  expect(found("zebr", "zebra")).toEqual(["zebr"]);
});

test("the words of the query weigh most, then synonyms, then the words of a path in a short query", () => {
  const toolWords = new Map(["delet", "chart"].map((word) => [word, true]));
  expect([...queryWords("erase calnder /srv/chart.csv", toolWords)]).toEqual([
    ["delet", 0.3],
    ["remov", 0.3],
    ["drop", 0.3],
    ["destroi", 0.3],
    ["doc", 0.3],
    ["document", 0.3],
    ["word", 0.3],
    ["report", 0.3],
    ["chart", 1 / 3],
    ["eras", 1],
    ["calnder", 1],
    ["file", 1],
    ["csv", 1],
  ]);
});

test("only the first 64 words and 2000 characters of a query are read", () => {
  const many = Array.from({ length: 70 }, (_none, at) => `q${String(at).padStart(2, "0")}`).join(" ");
  expect([...queryWords(many, new Map()).keys()].filter((word) => /^\d+$/.test(word)).at(-1)).toBe("31");
  expect(queryWords(`${" ".repeat(1_996)}late`, new Map()).has("late")).toBe(true);
  expect(queryWords(`${" ".repeat(1_997)}late`, new Map()).has("late")).toBe(false);
});
