import { expect, test } from "vitest";
import { queryWords } from "../../src/search/words.ts";

const wordsIn = (query: string, toolWords: ReadonlyMap<string, unknown>): readonly string[] =>
  queryWords(query, toolWords).flatMap(({ weights }) => [...weights.keys()]);
const found = (query: string, known: string): readonly string[] => wordsIn(query, new Map([[known, 1]]));

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

test("the words of the query weigh most, then the words of a path in a short query, then synonyms", () => {
  const toolWords = new Map(["delet", "chart"].map((word) => [word, true]));
  const groups = queryWords("erase calnder /srv/chart.csv", toolWords);
  expect(groups.map(({ weights, most }) => [most, ...weights].flat())).toEqual([
    [1, "eras", 1],
    [1, "calnder", 1],
    [1, "file", 1],
    [1, "csv", 1],
    [1, "chart", 1 / 3],
    [2.5, "delet", 0.3, "remov", 0.3, "drop", 0.3, "destroi", 0.3],
    [2.5, "doc", 0.3, "document", 0.3, "word", 0.3, "report", 0.3],
  ]);
});

test("a word that is a synonym and in a path counts as what weighs more", () => {
  const toolWords = new Map(["remov"].map((word) => [word, true]));
  const weightIn = (query: string): number | undefined =>
    queryWords(query, toolWords)
      .find(({ weights }) => weights.has("remov"))
      ?.weights.get("remov");
  expect(weightIn("erase /srv/remove")).toBe(0.3);
  expect(weightIn("erase a b c d e f g h every old line /srv/remove")).toBeGreaterThan(0.3);
});

test("known words that are similar to one misspelt word count as one word", () => {
  const toolWords = new Map(["weather", "wether"].map((word) => [word, true]));
  expect(queryWords("wexther", toolWords)[0]).toEqual({
    weights: new Map([
      ["wexther", 1],
      ["weather", 1],
      ["wether", 1],
    ]),
    most: 1,
  });
});

test("only the first 64 words and 2000 characters of a query are read", () => {
  const many = Array.from({ length: 70 }, (_none, at) => `q${String(at).padStart(2, "0")}`).join(" ");
  expect(
    wordsIn(many, new Map())
      .filter((word) => /^\d+$/.test(word))
      .at(-1),
  ).toBe("31");
  expect(wordsIn(`${" ".repeat(1_996)}late`, new Map()).includes("late")).toBe(true);
  expect(wordsIn(`${" ".repeat(1_997)}late`, new Map()).includes("late")).toBe(false);
});
