import { expect, test } from "vitest";
import { closest } from "../../src/text/closest.ts";

const keys = ["command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "includeTools"];

test.each([
  ["comand", "command"],
  ["arg", "args"],
  ["cmd", "cwd"],
  ["httpurl", "httpUrl"],
  ["haeders", "headers"],
  ["evn", "env"],
  ["nev", "env"],
  ["include_tools", "includeTools"],
  ["totally-different", undefined],
  ["", undefined],
])("%j is nearest to %j", (word, expected) => {
  expect(closest(word, keys)).toBe(expected);
});

test("a hostile length costs nothing and matches nothing", () => {
  expect(closest("x".repeat(1_000_000), keys)).toBeUndefined();
});
