import { execFileSync } from "node:child_process";
import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toShellWord } from "../../src/text/shell-word.ts";
import { anyCharacter } from "../support/any-character.ts";

/** What a real shell makes of the words. */
function readByShell(texts: readonly string[]): string[] {
  const words = texts.map((text) => toShellWord(text)).join(" ");
  return execFileSync("sh", ["-c", `for word in ${words}; do printf '%s\\0' "$word"; done`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
}

test("a shell reads each word as the text it was", () => {
  const known = [
    "plain-name_1.x",
    "",
    "two words",
    "it's",
    "$(id)",
    "`id`",
    "a;b",
    "a\nb",
    "*",
    "~",
    "#x",
    "!!",
    "{a,b}",
    "é",
    "\\",
  ];
  const text = fc
    .string({ unit: anyCharacter, maxLength: 20 })
    .filter((each) => !each.startsWith("-") && !/[\0\p{Cs}]/u.test(each));
  const seeded = seed();
  const random = fc.sample(text, { numRuns: 500, seed: seeded });
  expect(readByShell([...known, ...random]), `seed ${seeded}`).toEqual([...known, ...random]);
});

test.each([
  ["--all", "-- --all"],
  ["-x y", "-- '-x y'"],
])("%j cannot be taken for an option", (text, word) => {
  expect(toShellWord(text)).toBe(word);
});
