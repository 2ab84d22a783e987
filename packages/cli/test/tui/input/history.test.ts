import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHistory, loadHistory, newer, older, saveEntry } from "../../../src/tui/input/history.ts";

const entries = ["one", "two", "three"];

test("each step back and forth returns the entry and the position, and keeps the draft", () => {
  const at = (index: number, draft: string): unknown => ({ entries, at: index, draft });
  const begun = createHistory(entries);
  expect([begun, newer(begun)]).toEqual([at(3, ""), undefined]);
  const three = older(begun, "draft");
  expect(three).toEqual({ history: at(2, "draft"), text: "three" });
  const two = three && older(three.history, "three");
  expect(two).toEqual({ history: at(1, "draft"), text: "two" });
  const one = two && older(two.history, "two");
  expect(one).toEqual({ history: at(0, "draft"), text: "one" });
  expect(one && older(one.history, "one")).toBeUndefined();
  const again = one && newer(one.history);
  expect(again).toEqual({ history: at(1, "draft"), text: "two" });
  expect(three && newer(three.history)).toEqual({ history: at(3, "draft"), text: "draft" });
});

test("an entry of 16384 characters is saved, and a longer one is not", async () => {
  await using folder = await temporaryFolder();
  const longest = "x".repeat(16_384);
  for (const text of [longest, `${longest}x`]) await saveEntry(folder.path, text);
  expect(await loadHistory(folder.path)).toEqual([longest]);
  expect(await readdir(folder.path)).toContain("history.json");
});

test.each([
  ["a list of texts", ["a", "b"], ["a", "b"]],
  ["an empty list", [], []],
  ["a list with one number", ["a", 1], undefined],
  ["a list of numbers", [1], undefined],
  ["a text", "abc", undefined],
  ["an object", { length: 0 }, undefined],
])("a history file with %s is read as its entries, or not at all", async (_, value, read) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "history.json"), JSON.stringify(value));
  expect(await loadHistory(folder.path)).toEqual(read);
});
