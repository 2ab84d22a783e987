import { describe, expect, test } from "vitest";
import { firstWord, isPrompt, resolve } from "../../src/shell/resolve.ts";

/** What the words ask for, in short: the command with its words, or another answer. */
function resolved(line: string): unknown {
  const resolution = resolve(line.split(" ").filter((word) => word !== ""));
  if (resolution.kind !== "verb") return resolution;
  return [resolution.words, ...resolution.argv];
}

describe("a command is found behind global options, and its words are passed on", () => {
  test.each<[line: string, found: readonly string[]]>([
    ["", [""]],
    ["--json", ["", "--json"]],
    ["tools demo --all", ["tools", "demo", "--all"]],
    ["-C dir tools demo", ["tools", "-C", "dir", "demo"]],
    ["--settings file --record dir tools", ["tools", "--settings", "file", "--record", "dir"]],
    ["--json --quiet mcp list --strict", ["mcp list", "--json", "--quiet", "--strict"]],
    ["mcp --json -C dir list --strict", ["mcp list", "--json", "-C", "dir", "--strict"]],
    ["lock", ["lock"]],
    ["lock --json", ["lock", "--json"]],
    ["--json lock -- x", ["lock", "--json", "--", "x"]],
    ["lock verify x", ["lock verify", "x"]],
    ["-p hello", ["-p", "-p", "hello"]],
    ["-phello", ["-p", "-phello"]],
    ["--prompt=hello tools", ["-p", "--prompt=hello", "tools"]],
    ["--model x -p hello", ["-p", "--model", "x", "-p", "hello"]],
    ["--resume tools", ["", "--resume", "tools"]],
    ["--resume --json", ["", "--resume", "--json"]],
    ["--resume id tools x", ["tools", "--resume", "id", "x"]],
    ["-- tools", ["", "--", "tools"]],
    ["--json -- hello", ["", "--json", "--", "hello"]],
    ["--version tools", ["tools", "--version"]],
    ["help tools", ["tools", "--help"]],
    ["help mcp list", ["mcp list", "--help"]],
    ["help errors usage", ["help errors", "usage"]],
  ])("%j", (line, found) => {
    expect(resolved(line)).toEqual(found);
  });

  test("words with a space are a message for the app", () => {
    expect(resolve(["--json", "what is new?", "x"])).toMatchObject({
      kind: "verb",
      words: "",
      argv: ["--json", "what is new?", "x"],
    });
    expect(resolve([" tools "])).toMatchObject({ kind: "unknown" });
  });
});

describe("help and the version are asked for before a command", () => {
  test.each<[line: string, answer: object]>([
    ["--version", { kind: "version" }],
    ["-V", { kind: "version" }],
    ["--json --version", { kind: "version" }],
    ["--help", { kind: "help" }],
    ["-h", { kind: "help" }],
    ["--version --help", { kind: "version" }],
    ["-h -- x", { kind: "help" }],
    ["help", { kind: "help" }],
    ["mcp", { kind: "help", group: "mcp" }],
    ["mcp --", { kind: "help", group: "mcp" }],
    ["mcp --help", { kind: "help", group: "mcp" }],
    ["mcp -h --json", { kind: "help", group: "mcp" }],
    ["help mcp", { kind: "help", group: "mcp" }],
    ["--quiet mcp", { kind: "help", group: "mcp" }],
  ])("%j", (line, answer) => {
    expect(resolved(line)).toEqual(answer);
  });
});

describe("what names no command is answered with the nearest one, or with the help", () => {
  test.each<[line: string, message: string, next: string]>([
    ["tols", 'unknown command "tols"; did you mean "tools"?', "fairlead --help"],
    ["zzzzzzzz", 'unknown command "zzzzzzzz"', "fairlead --help"],
    ["mcp lst", 'unknown command "mcp lst"; did you mean "mcp list"?', "fairlead mcp --help"],
    ["help tols", 'unknown command "tols"; did you mean "tools"?', "fairlead --help"],
    ["tool", 'unknown command "tool"; did you mean "tools"?', "fairlead --help"],
    ["add", 'unknown command "add"; did you mean "mcp add"?', "fairlead mcp add"],
    ["list", 'unknown command "list"; did you mean "mcp list"?', "fairlead mcp list"],
    ["ls", 'unknown command "ls"; did you mean "mcp list"?', "fairlead mcp list"],
    ["remove files", 'unknown command "remove"; did you mean "mcp remove"?', "fairlead mcp remove files"],
    ["trust rm", 'unknown command "trust rm"; did you mean "trust remove"?', "fairlead trust remove"],
    ["mcp --quiet", 'a command is missing after "mcp"', "fairlead mcp --help"],
    ["--json mcp", 'a command is missing after "mcp"', "fairlead mcp --help"],
  ])("%j", (line, message, next) => {
    expect(resolved(line)).toEqual({ kind: "unknown", message, next });
  });
});

test.each([
  [["-C", "dir", "tools"], 2],
  [["-C"], 2],
  [["--json", "tools"], 1],
  [["--", "tools"], 0],
  [["--resume", "id", "tools"], 2],
  [["--resume", "-x", "tools"], 2],
  [["--resume"], 1],
  [[], 0],
])("in %j the first word that is no option is at %i", (argv, at) => {
  expect(firstWord(argv)).toBe(at);
});

test.each([
  [["-p"], true],
  [["--json", "-ptext"], true],
  [["--prompt"], true],
  [["--prompt=text"], true],
  [["--prompts"], false],
  [["--plain"], false],
  [["x-p"], false],
  [[], false],
])("%j has a prompt: %s", (options, expected) => {
  expect(isPrompt(options)).toBe(expected);
});
