import { HostError } from "@fairlead/core/errors";
import { describe, expect, test } from "vitest";
import {
  type AddOptions,
  lookalikes,
  newServers,
  refuseInvalidEntry,
  splitAddWords,
} from "../../../../src/commands/mcp/add/new-entry.ts";

function added(operands: readonly string[], options: AddOptions = {}, rest: readonly string[] = []): unknown {
  try {
    return newServers({ operands, rest, isFile: (path) => path === "a file" }, options);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [error.code, error.message, error.next];
  }
}

const url = "https://example.com/mcp";
const two = '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.example"}}}';

describe("the words of the user become entries", () => {
  test.each<[operands: readonly string[], options: AddOptions, rest: readonly string[], entries: object]>([
    [["n", "run"], {}, [], { n: { command: "run" } }],
    [["n", " run "], {}, [], { n: { command: "run" } }],
    [["n", "run"], { transport: "stdio" }, ["-x", "y"], { n: { command: "run", args: ["-x", "y"] } }],
    [["n", "run 'a b' c"], {}, ["d"], { n: { command: "run", args: ["a b", "c", "d"] } }],
    [["n", "a file"], {}, ["d"], { n: { command: "a file", args: ["d"] } }],
    [["n", url], {}, [], { n: { url } }],
    [["n", url], { transport: "sse" }, [], { n: { url, type: "sse" } }],
    [["n", "HTTP://$HOST:x/"], {}, [], { n: { url: "HTTP://$HOST:x/" } }],
    [["n", '{"command": "x", "args": ["y"]}'], {}, [], { n: { command: "x", args: ["y"] } }],
    [["n", '{"url": "u"}'], {}, [], { n: { url: "u" } }],
    [["n", '{"httpUrl": "u"}'], {}, [], { n: { httpUrl: "u" } }],
    [["n", ' "other": {"command": "x"}'], {}, [], { n: { command: "x" } }],
    [[' {"other": {"command": "x"}}'], {}, [], { other: { command: "x" } }],
    [[two], {}, [], { a: { command: "x" }, b: { url: "https://b.example" } }],
    [["b", two], {}, [], { b: { url: "https://b.example" } }],
    [['{"servers": {"s": {"command": "x"}}}'], {}, [], { s: { command: "x" } }],
    [
      ["n", '{"command": "x", "env": {"A": "1", "B": "2"}, "timeout": 7}'],
      { env: ["B=3=4", "C", "D="], cwd: "", timeout: "2s", description: "", trust: true },
      [],
      {
        n: {
          command: "x",
          env: { A: "1", B: "3=4", C: "${C}", D: "" },
          timeout: 2000,
          cwd: "",
          trust: true,
          description: "",
        },
      },
    ],
    [
      ["n", '{"url": "u", "headers": {"A": "1"}}'],
      { header: ["B: 2"] },
      [],
      { n: { url: "u", headers: { A: "1", B: "2" } } },
    ],
    [
      ["n", url],
      { header: ["A: b:c ", "D:"], trust: false, includeTools: "a, b(c, d),,e", excludeTools: "" },
      [],
      { n: { url, headers: { A: "b:c", D: "" }, includeTools: ["a", "b(c, d)", "e"], excludeTools: [] } },
    ],
  ])("%j %j %j", (operands, options, rest, entries) => {
    const servers = Object.entries(entries).map(([name, entry]) => ({ name, entry: entry as object }));
    expect(added(operands, options, rest)).toEqual(servers);
  });
});

describe("a mistake of the user is named", () => {
  test.each<[operands: readonly string[], options: AddOptions, message: string]>([
    [["x"], {}, '"x" has no command, URL or JSON snippet after it'],
    [[], {}, '"" has no command, URL or JSON snippet after it'],
    [[url], {}, `the server's name is missing before "${url}"`],
    [[url, "x"], {}, `the server's name is missing before "${url}"`],
    [["n", "ftp://x"], {}, '"ftp://x" is not supported: a server\'s URL starts with https:// or http://'],
    [["n", "ftp://$X"], {}, '"ftp://$X" is not supported: a server\'s URL starts with https:// or http://'],
    [["n", "https://"], {}, '"https://" is not a URL'],
    [['{"command": "x"}'], {}, "the snippet has no server name; write a name before the snippet"],
    [['{"a": {}}', "y"], {}, 'unexpected "y" after the snippet: the server\'s name goes before the snippet'],
    [["n", '{"a": 1}'], {}, "the snippet has no server: command, url or httpUrl is missing"],
    [["n", "{}"], {}, "the snippet has no server: command, url or httpUrl is missing"],
    [['{"a": {"command": "x"}, "b": 1}'], {}, "the snippet has no server: command, url or httpUrl is missing"],
    [
      ["n", "{\n bad"],
      {},
      "the snippet is not valid JSON: line 2, column 2: a word that is not JSON; text needs double quotes",
    ],
    [["n", two], {}, 'the snippet has no server "n", only "a", "b"'],
    [["n", "run"], { transport: "http" }, '-t http needs a URL that starts with https:// or http://, not "run"'],
    [["n", "run"], { transport: "sse" }, '-t sse needs a URL that starts with https:// or http://, not "run"'],
    [["n", "run"], { header: ["A: b"] }, "-H works only with a URL; for a command use -e NAME=VALUE"],
    [["n", url], { env: ["A=b"], cwd: "x" }, "-e works only with a command; for a URL use -H 'Name: value'"],
    [["n", url], { cwd: "" }, "--cwd works only with a command"],
    [["n", url], { transport: "stdio" }, "-t stdio needs a command, not a URL"],
    [["n", "run"], { env: ["=x"] }, '-e "=x" has no name before the "="'],
    [["n", "run"], { env: ["a b=x"] }, '-e "a b=x": the variable name "a b" contains spaces'],
    [["n", url], { header: [":x"] }, '-H ":x" is not of the form "Name: value"'],
    [["n", url], { header: ["x"] }, '-H "x" is not of the form "Name: value"'],
    [["n", "run"], { timeout: "x" }, '--timeout must be a time such as 500ms, 10s or 2m, not "x"'],
    [["n", "a 'b"], {}, "\"a 'b\" is not a valid command line: character 3, the quote ' is not closed"],
    [["a\u200b", "run"], {}, '"a⟨U+200B⟩" is not a valid server name: it has invisible characters'],
    [["a\u200b", url], {}, '"a⟨U+200B⟩" is not a valid server name: it has invisible characters'],
    [["a\u200b", '{"command": "x"}'], {}, '"a⟨U+200B⟩" is not a valid server name: it has invisible characters'],
    [['{"a\u200b": {"command": "x"}}'], {}, '"a⟨U+200B⟩" is not a valid server name: it has invisible characters'],
  ])("%j %j", (operands, options, message) => {
    expect(added(operands, options)).toEqual(["usage", message, "fairlead mcp add --help"]);
  });
});

describe("the words after a command belong to the server", () => {
  test.each<[words: string, ours: string, rest: string]>([
    ["n run -x y", "-- n run", "-x y"],
    ["-s user --trust n run --json", "-s user --trust -- n run", "--json"],
    ["n -e A=b run -e C=d", "-e A=b -- n run", "-e C=d"],
    ["-- n run -- x", "-- n run", "-- x"],
    ["n -- run -- x", "-- n run", "-- x"],
    ["n run -- -- x", "-- n run", "-- x"],
    ["-- -s user x", "-- -s user", "x"],
    ["n https://x --json", "n https://x --json", ""],
    ["https://x --json", "https://x --json", ""],
    ["--header a", "--header a --", ""],
    ["--timeout=1s n run", "--timeout=1s -- n run", ""],
    ["n", "-- n", ""],
  ])("%s", (words, ours, rest) => {
    const split = (text: string): string[] => (text === "" ? [] : text.split(" "));
    expect(splitAddWords(split(words))).toEqual({ ours: split(ours), rest: split(rest) });
  });

  test("and those that look like options of Fairlead are found, each once", () => {
    const rest = ["--json", "x", "--trust=1", "-e", "A", "--json", "-x", "-t=http", "--unknown", "--no-test"];
    expect(lookalikes(rest)).toEqual(["--json", "--trust", "-e", "--no-test"]);
    expect(lookalikes(["-C", "--settings=x", "-q", "-h", "-H"])).toEqual(["-C", "--settings", "-q", "-h", "-H"]);
    expect(lookalikes(["json", ""])).toEqual([]);
  });
});

test("an entry that is invalid on every machine is refused with all its mistakes", () => {
  const refusal = (entry: Readonly<Record<string, unknown>>): unknown => {
    try {
      return refuseInvalidEntry({ name: "n", entry }, "user");
    } catch (error) {
      return error instanceof HostError ? [error.code, error.message, error.next] : error;
    }
  };
  expect(refusal({ command: "x" })).toBeUndefined();
  expect(refusal({ command: "x", unknown: 1 })).toBeUndefined();
  expect(refusal({ command: 7, args: 8 })).toEqual([
    "settings_invalid",
    '"n" was not added: "command" must be text, not a number; "args" must be a list of texts, not a number',
    "fairlead settings schema",
  ]);
  expect(refusal({ command: "x", url: "https://x" })).toEqual([
    "settings_invalid",
    expect.stringMatching(/^"n" was not added: /),
    "fairlead settings schema",
  ]);
  let deep: unknown = {};
  for (let level = 0; level < 1000; level += 1) deep = { deep };
  expect(refusal({ command: "x", deep })).toEqual([
    "settings_invalid",
    'the entry of "n" is nested too deeply',
    undefined,
  ]);
});
