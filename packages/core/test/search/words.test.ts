import { expect, test } from "vitest";
import { searchWords } from "../../src/search/words.ts";

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

test("neighbouring Chinese, Japanese and Korean characters are words", () => {
  expect(searchWords("获取天气 weather")).toEqual(["获取", "取天", "天气", "weather"]);
  expect(searchWords("図")).toEqual(["図"]);
});
