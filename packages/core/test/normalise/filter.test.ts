import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hiddenBy, unmatchedEntries } from "../../src/normalise/filter.ts";

const isIncluded = (entry: string, tool: string) =>
  hiddenBy(tool, { includeTools: [entry], excludeTools: [] }) === undefined;

describe("an entry names", () => {
  test.each([
    ["read", "read"],
    ["read(path)", "read"],
    ["read()", "read"],
    ["read_*", "read_file"],
    ["*", ""],
    ["*_file", "read_file"],
    ["r*_f*e", "read_file"],
    ["read_????", "read_file"],
    ["**d**", "read"],
    ["*(…)", "read"],
    ["delete_*(path)", "delete_file"],
    ["f(*)", "f(x)"],
    // What looks like a pattern may be the very name.
    ["what?", "what?"],
    ["a.b", "a.b"],
    ["[ab]", "[ab]"],
  ])("%s: %s", (entry, tool) => {
    expect(isIncluded(entry, tool)).toBe(true);
  });
});

describe("an entry does not name", () => {
  test.each([
    ["read", "Read"],
    ["read", "read_file"],
    ["read_file", "read"],
    ["read(path)", "rea"],
    ["read_*", "write_file"],
    ["*_file", "read_files"],
    ["read_????", "read_dir"],
    ["?", ""],
    ["", "read"],
    ["a.b", "axb"],
    ["[ab]*", "a"],
  ])("%s: %s", (entry, tool) => {
    expect(isIncluded(entry, tool)).toBe(false);
  });
});

describe("the setting that takes a tool out", () => {
  test.each([
    [undefined, [], undefined],
    [["read"], [], undefined],
    [["write"], [], "includeTools"],
    [[], [], "includeTools"],
    [undefined, ["read"], "excludeTools"],
    [undefined, ["read(path)"], "excludeTools"],
    [["read"], ["r*"], "excludeTools"],
    [["write"], ["read"], "excludeTools"],
  ])("include %j, exclude %j: %s", (includeTools, excludeTools, setting) => {
    expect(hiddenBy("read", { ...(includeTools && { includeTools }), excludeTools })).toBe(setting);
  });
});

test("patterns agree with regular expressions", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  fc.assert(
    fc.property(letters, letters, (entry, tool) => {
      const expression = new RegExp(`^${entry.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      const expected = entry === tool || (/[*?]/.test(entry) && expression.test(tool));
      expect(isIncluded(entry, tool)).toBe(expected);
    }),
  );
});

test("a pattern made to take for ever does not", () => {
  expect(isIncluded(`${"a*".repeat(50)}b`, "a".repeat(20_000))).toBe(false);
});

describe("entries that name no tool of the server are told apart", () => {
  const tools = ["read_file", "write_file", "what?"];
  const message = (setting: string, entry: string, suggestion = "") => ({
    setting,
    entry,
    message: `${setting} names "${entry}", but there is no such tool${suggestion}`,
  });

  test.each([
    ["all are known", ["read_file", "write_file(path)", "r*", "what?", "*"], ["write_*"], []],
    ["one is nearly right", ["reed_file"], [], [message("includeTools", "reed_file", '; did you mean "read_file"?')]],
    [
      "one is nearly right before its brackets",
      undefined,
      ["write_fle(path, mode)"],
      [message("excludeTools", "write_fle(path, mode)", '; did you mean "write_file"?')],
    ],
    [
      "in both lists",
      ["delete_everything", "read_file"],
      ["x*"],
      [message("includeTools", "delete_everything"), message("excludeTools", "x*")],
    ],
    ["an empty one", [""], [], [message("includeTools", "")]],
  ])("%s", (_, includeTools, excludeTools, expected) => {
    expect(unmatchedEntries(tools, { ...(includeTools && { includeTools }), excludeTools })).toEqual(expected);
  });
});

test("a server without tools does not prove an entry wrong", () => {
  expect(unmatchedEntries([], { includeTools: ["read"], excludeTools: ["write"] })).toEqual([]);
});
