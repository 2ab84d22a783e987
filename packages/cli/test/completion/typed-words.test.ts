import { describe, expect, test } from "vitest";
import { completionContextOf } from "../../src/completion/completion-context.ts";
import {
  type KnownCommand,
  longFlagOf,
  needsValue,
  placeholderOf,
  spellingsOf,
} from "../../src/completion/known-command.ts";
import { findCommand, isForeign, readWords, splitOption } from "../../src/completion/typed-words.ts";
import { writtenOutput } from "../support/written-output.ts";

describe("the words before the cursor name", () => {
  test.each<[words: readonly string[], found: unknown]>([
    [[], ["group", "", false, []]],
    [["--json"], ["group", "", false, ["--json"]]],
    [["mcp"], ["group", "mcp", false, []]],
    [
      ["--json", "mcp", "-q"],
      ["group", "mcp", false, ["--json", "-q"]],
    ],
    [
      ["mcp", "get"],
      ["command", "mcp get", false, []],
    ],
    [
      ["-C", "dir", "mcp", "--json", "get", "a", "b"],
      ["command", "mcp get", false, ["-C", "dir", "--json", "a", "b"]],
    ],
    [
      ["tools", "a"],
      ["command", "tools", false, ["a"]],
    ],
    [
      ["--json", "call", "a.b", "c=d"],
      ["command", "call", false, ["--json", "a.b", "c=d"]],
    ],
    [
      ["-p", "call"],
      ["command", "-p", false, ["-p", "call"]],
    ],
    [["help"], ["group", "", true, []]],
    [
      ["help", "mcp"],
      ["group", "mcp", true, []],
    ],
    [
      ["help", "mcp", "get"],
      ["command", "mcp get", true, []],
    ],
    [
      ["help", "errors", "x"],
      ["command", "help errors", false, ["x"]],
    ],
    [["help", "help"], undefined],
    [["mcp", "unknown"], undefined],
    [["unknown"], undefined],
  ])("%j", (words, found) => {
    const command = findCommand(words);
    const name = command?.kind === "group" ? command.group : command?.row.words;
    expect(command && [command.kind, name, command.isHelp, command.words]).toEqual(found);
  });
});

const file = { flags: "-f, --file <path>", summary: "" };
const debug = { flags: "--debug [server]", summary: "" };
const quiet = { flags: "-q, --quiet", summary: "" };
const short = { flags: "-C <dir>", summary: "" };
const command: KnownCommand = {
  operands: [{ placeholder: "name", isRepeated: false }],
  options: [file, debug, quiet, short],
  isWrapper: false,
};

describe("the words behind the command are", () => {
  test.each<[words: readonly string[], operands: readonly string[], values: object, pending: object | undefined]>([
    [[], [], {}, undefined],
    [["a", "-", "b"], ["a", "-", "b"], {}, undefined],
    [["-f", "x", "a"], ["a"], { "--file": "x" }, undefined],
    [["--file=x=y"], [], { "--file": "x=y" }, undefined],
    [["--file="], [], { "--file": "" }, undefined],
    [["-f"], [], {}, file],
    [["a", "-C"], ["a"], {}, short],
    [["-C", "-q"], [], { "-C": "-q" }, undefined],
    [["--debug", "-q"], [], { "--debug": "", "--quiet": "" }, undefined],
    [["--unknown", "a"], ["a"], {}, undefined],
  ])("%j", (words, operands, values, pending) => {
    expect(readWords(words, command)).toEqual({
      operands,
      values: new Map(Object.entries(values)),
      pending,
      takesOptions: true,
    });
  });

  test("arguments only, behind --", () => {
    expect(readWords(["-q", "--", "-f", "--", "a"], command)).toEqual({
      operands: ["-f", "--", "a"],
      values: new Map([["--quiet", ""]]),
      pending: undefined,
      takesOptions: false,
    });
  });

  test("those of another program, behind the arguments of a command that starts one", () => {
    const wrapper = { ...command, isWrapper: true };
    expect(readWords(["-q", "name", "-f", "x"], wrapper)).toEqual({
      operands: ["name", "-f", "x"],
      values: new Map([["--quiet", ""]]),
      pending: undefined,
      takesOptions: false,
    });
    expect([isForeign([], wrapper), isForeign(["a"], wrapper), isForeign(["a"], command)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

test("an option is recognised by each of its spellings", () => {
  expect(splitOption("-f=x", command)).toEqual({ option: undefined, value: undefined });
  expect(splitOption("-f", command)).toEqual({ option: file, value: undefined });
  expect(splitOption("--debug=a", command)).toEqual({ option: debug, value: "a" });
  expect(splitOption("--unknown=a", command)).toEqual({ option: undefined, value: "a" });
  expect([file, debug, quiet, short].map(longFlagOf)).toEqual(["--file", "--debug", "--quiet", "-C"]);
  expect([file, debug, quiet, short].map(spellingsOf)).toEqual([
    ["-f", "--file"],
    ["--debug"],
    ["-q", "--quiet"],
    ["-C"],
  ]);
  expect([file, debug, quiet, { ...file, flags: "--arg <x...>" }].map(placeholderOf)).toEqual([
    "path",
    "server",
    undefined,
    "x",
  ]);
  expect([file, debug, quiet].map(needsValue)).toEqual([true, false, false]);
});

test("Tab reads the settings that the command would read, but trusts no workspace", () => {
  const { io } = writtenOutput().context;
  const globals = (...values: readonly (readonly [string, string])[]) =>
    completionContextOf({ operands: [], values: new Map(values), pending: undefined, takesOptions: true }, io).globals;
  const usual = { workspace: true, trustWorkspace: false, json: false, quiet: true, debug: false };
  expect(globals(["--trust-workspace", ""], ["--json", ""])).toEqual(usual);
  expect(globals(["--no-workspace", ""])).toEqual({ ...usual, workspace: false });
  expect(globals(["-C", "~"], ["--settings", "~/s.json"])).toEqual({
    ...usual,
    root: "/home",
    settings: "/home/s.json",
  });
  expect(globals(["-C", "~other"], ["--settings", "a/~/b"])).toEqual({ ...usual, root: "~other", settings: "a/~/b" });
});
