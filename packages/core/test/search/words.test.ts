import { expect, test } from "vitest";
import { queryWords, searchWords } from "../../src/search/words.ts";

test.each([
  ["getWeReadRank", "get_we_read_rank"],
  ["HTTPServerURL", "http server url"],
  ["creating files", "Create FILE"],
  ["the user's repository", "user repositories"],
  ["ﬁle２", "file 2"],
])("%j and %j have the same words", (one, other) => {
  expect(searchWords(one)).toEqual(searchWords(other));
  expect(searchWords(one)).not.toEqual([]);
});

test("words that tell nothing about a tool are left out", () => {
  expect(searchWords("Please use this tool to do it for me")).toEqual([]);
});

test("a word of more than 40 letters is left out", () => {
  expect(searchWords(`${"x".repeat(40)} ${"y".repeat(41)}`)).toEqual(["x".repeat(40)]);
});

test("neighbouring Chinese, Japanese and Korean characters are words", () => {
  expect(searchWords("获取天气 weather")).toEqual(["获取", "取天", "天气", "weather"]);
  expect(searchWords("図")).toEqual(["図"]);
});

test("the words of a path count less than the words for the task, the less the shorter the query is", () => {
  const known = new Map(["read", "file", "chart", "sale", "summar", "report"].map((word) => [word, true]));
  const weightsIn = (query: string): ReadonlyMap<string, number> =>
    new Map(queryWords(query, known).flatMap(({ weights }) => [...weights]));
  const short = weightsIn("read /srv/sales/chart.csv");
  expect(short.get("read")).toBe(1);
  expect(short.get("file")).toBe(1);
  expect(short.get("chart")).toBeGreaterThan(0);
  expect(short.get("chart")).toBeLessThan(0.5);
  const question = weightsIn(
    "Please summarise last year for three regions and four products as one report with pictures, tables and short comments from /srv/sales/chart.csv",
  );
  expect(question.get("chart")).toBe(1);
});
