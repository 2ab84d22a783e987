import { HostError } from "@fairlead/core/errors";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { ClientName, ForeignEntry } from "../../src/clients/client.ts";
import { changeServers, openClientText, removeOwnEntry } from "../../src/clients/client-text.ts";

const file = "/config";

describe("a text that cannot be edited is refused with its place", () => {
  test.each<[client: ClientName, text: string, position: string, message: string]>([
    ["cursor", '{\n  "a": oops }', "2:8", "a word that is not JSON; text needs double quotes"],
    ["cursor", "\n [1]", "2:2", "the file must contain a JSON object, { … }"],
    ["cursor", '{ "mcpServers": [] }', "1:17", '"mcpServers" must be an object'],
    ["cursor", '{ "mcpServers": {},\n "mcpServers": {} }', "2:2", '"mcpServers" occurs twice'],
    ["cursor", '{ "mcpServers": { "a": {},\n "a": {} } }', "2:2", 'the server "a" occurs twice'],
    [
      "claude-code",
      '{ "a": 1,\n // note\n "b": 2 }',
      "2:2",
      "Claude Code does not accept comments or trailing commas in this file",
    ],
    [
      "claude-desktop",
      '\uFEFF{ "a": 1, }',
      "1:11",
      "Claude Desktop does not accept comments or trailing commas in this file",
    ],
    ["codex", "a = 1\n\nmcp_servers = 3\n", "3:1", '"mcp_servers" must be a table'],
    ["codex", "mcp_servers = 1979-05-27\n", "1:1", '"mcp_servers" must be a table'],
    ["codex", "\n[[mcp_servers]]\na = 1\n", "2:1", '"mcp_servers" must be a table'],
  ])("%s: %j", async (client, text, position, message) => {
    const [line, column] = position.split(":");
    await expect(openClientText(client, file, text)).rejects.toMatchObject({
      code: "settings_invalid",
      message: `${file}:${position}: ${message}; the file was not changed`,
      next: `Correct ${file} at line ${line}, column ${column}, then try again.`,
    });
  });

  test.each([
    ["a table without an end", "[mcp_servers.x\n", "1:15"],
    ["a value that is missing", "a = 1\nb = \n", "2:5"],
    ["a key that is there twice", "a = 1\na = 2\n", "2:1"],
  ])("codex: %s, with the first line of the parser's words", async (_what, text, position) => {
    const error = await openClientText("codex", file, text).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "settings_invalid", cause: expect.any(Error) });
    expect(String(error)).toMatch(new RegExp(`${file}:${position}: [^\\n]+; the file was not changed$`));
  });
});

describe("servers are listed with their values and places", () => {
  test.each<
    [client: ClientName, text: string | undefined, servers: Record<string, [value: unknown, position: string]>]
  >([
    ["cursor", undefined, {}],
    ["cursor", '{ "other": { "a": {} } }', {}],
    [
      "cursor",
      '{ "mcpServers": {\n  "a": { "command": "x" },\n  "b": 7 } }',
      { a: [{ command: "x" }, "2:3"], b: [7, "3:3"] },
    ],
    ["codex", undefined, {}],
    ["codex", "[other.a]\nx = 1\n", {}],
    [
      "codex",
      'model = "m"\n[mcp_servers.a.env]\nK = "v"\n[mcp_servers.a]\ncommand = "x"\n  [mcp_servers."b c"]\nargs = ["1", "2"]\n',
      { a: [{ env: { K: "v" }, command: "x" }, "2:1"], "b c": [{ args: ["1", "2"] }, "6:3"] },
    ],
    [
      "codex",
      'mcp_servers.a.command = "x"\nmcp_servers.b = { url = "u" }\n',
      { a: [{ command: "x" }, "1:1"], b: [{ url: "u" }, "2:1"] },
    ],
    [
      "codex",
      '[mcp_servers]\n\na.command = "x"\nb = { url = "u" }\n',
      { a: [{ command: "x" }, "3:1"], b: [{ url: "u" }, "4:1"] },
    ],
    ["codex", 'mcp_servers = { a = { command = "x" } }\n', { a: [{ command: "x" }, "1:1"] }],
  ])("%s: %j", async (client, text, expected) => {
    const { servers } = await openClientText(client, file, text);
    const found = [...servers].map(([name, { value, line, column }]) => [name, [value, `${line}:${column}`]]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });
});

describe("a server is added to a TOML file, or replaced at its end", () => {
  const entry = { command: "c" };
  const table = '[mcp_servers.f]\ncommand = "c"\n';
  test.each<[before: string, entry: ForeignEntry, after: string]>([
    ["", entry, table],
    [" \n", entry, ` \n${table}`],
    ["\uFEFF", entry, `\uFEFF${table}`],
    ["a = 1", entry, `a = 1\n\n${table}`],
    ["a = 1\n", entry, `a = 1\n\n${table}`],
    ["a = 1\n\n", entry, `a = 1\n\n${table}`],
    ["a = 1\r\n", entry, `a = 1\n\n${table}`.replaceAll("\n", "\r\n")],
    ["a = 1\r\n\r\n", entry, `a = 1\n\n${table}`.replaceAll("\n", "\r\n")],
    ["[mcp_servers.f]\nurl = 'x'\n\n[b]\n", entry, `[b]\n\n${table}`],
    ["\uFEFF[b]\n[mcp_servers.f]\nurl = 'x'\n", entry, `\uFEFF[b]\n\n${table}`],
    [
      "",
      { command: "C:\\n", args: ["it's \\", "tab\\\t", 'say "x"', "\u007f"], n: 1.5, on: true, list: [] },
      `[mcp_servers.f]\ncommand = 'C:\\n'\nargs = ["it's \\\\", "tab\\\\\\U00000009", 'say "x"', "\\U0000007f"]\nn = 1.5\non = true\nlist = []\n`,
    ],
    ["", { command: "\u007f-\u007f" }, '[mcp_servers.f]\ncommand = "\\U0000007f-\\U0000007f"\n'],
    [
      "",
      { env: { A_1: "x", "b-c": "y", "d e": "z", "": "w" } },
      '[mcp_servers.f]\nenv = { A_1 = "x", b-c = "y", "d e" = "z", "" = "w" }\n',
    ],
  ])("%j with %j", async (before, added, after) => {
    expect(await changeServers("codex", file, before, { remove: [], set: { name: "f", entry: added } })).toBe(after);
  });
});

describe("a server is removed from a TOML file", () => {
  test.each([
    ["[mcp_servers.a]\nx = 1\n\n\n[b]\n", "\n[b]\n"],
    ["a = 1\n\n\n[mcp_servers.a]\nx = 1\n[b]\n", "a = 1\n\n[b]\n"],
    ["[b]\r\n\r\n[mcp_servers.a]\r\nx = 1\r\n", "[b]\r\n"],
    ["[b]\n[mcp_servers.a] # mine\nx = 1 # one", "[b]\n"],
    ["\uFEFF[mcp_servers.a]\nx = 1\n", "\uFEFF"],
    ["[mcp_servers.a]\nx = 1\n[b]\n\n[mcp_servers.a.env]\ny = 1\n[c]\n", "[b]\n[c]\n"],
    ["[mcp_servers]\n[mcp_servers.a]\nx = 1\n", "[mcp_servers]\n"],
    ["[mcp_servers.b]\nx = 1\n", "[mcp_servers.b]\nx = 1\n"],
  ])("%j", async (before, after) => {
    expect(await changeServers("codex", file, before, { remove: ["a"] })).toBe(after);
  });

  test.each([
    ['mcp_servers.a.command = "x"\n', "1:1"],
    ['mcp_servers.a.command = "x"\n[mcp_servers.a.env]\nK = "v"\n', "1:1"],
    ['[mcp_servers]\na = { command = "x" }\n', "2:1"],
    ['[mcp_servers]\na.command = "x"\n[mcp_servers.a.env]\nK = "v"\n', "2:1"],
    ['x = 1\nmcp_servers = { a = { command = "x" } }\n', "2:1"],
  ])("only if it is written as tables: %j", async (text, position) => {
    await expect(changeServers("codex", file, text, { remove: ["a"] })).rejects.toMatchObject({
      message: `${file}:${position}: the server "a" is not written as a separate table, [mcp_servers.a]; the file was not changed`,
    });
  });
});

test("several servers are removed and one is added, and the rest stays", async () => {
  const before = '{\n  "x": 1,\n  "mcpServers": {\n    "a": {},\n    "b": {},\n    "c": {}\n  }\n}\n';
  const change = { remove: ["a", "c", "none"], set: { name: "f", entry: { command: "c" } } };
  expect(await changeServers("cursor", file, before, change)).toBe(
    '{\n  "x": 1,\n  "mcpServers": {\n    "b": {},\n    "f": {\n      "command": "c"\n    }\n  }\n}\n',
  );
});

describe("removing Fairlead's own entry", () => {
  const gone = (client: ClientName, before: string | undefined, text: string, moved: readonly string[] = []) =>
    removeOwnEntry(client, file, text, { before, name: "f", moved });

  test("also removes the object that it came with", async () => {
    const text = '{ "a": 1, "mcpServers": { "f": {} } }';
    expect(await gone("cursor", '{ "a": 1 }', text)).toBe('{ "a": 1 }');
    expect(await gone("cursor", '{ "a": 1, "mcpServers": {} }', text)).toBe('{ "a": 1, "mcpServers": {} }');
    expect(await gone("cursor", undefined, '{ "mcpServers": { "f": {}, "g": {} } }')).toBe(
      '{ "mcpServers": { "g": {} } }',
    );
  });

  test("brings back the servers that it replaced, but not over newer ones", async () => {
    const before = '{ "mcpServers": { "a": { "url": "old" }, "b": { "url": "old" } } }';
    const text = '{ "mcpServers": { "f": {}, "b": { "url": "new" } } }';
    expect(await gone("cursor", before, text, ["a", "b", "none"])).toBe(
      '{ "mcpServers": { "b": { "url": "new" }, "a": { "url": "old" } } }',
    );
  });

  test("brings back tables as they were written", async () => {
    const before = "[mcp_servers.a] # mine\nurl = 'u' # kept\n\n[x]\n[mcp_servers.a.env]\nK = 'v'\n\n";
    const text = "[x]\r\n\r\n[mcp_servers.f]\r\nurl = 'f'\r\n";
    expect(await gone("codex", before, text, ["a"])).toBe(
      "[x]\r\n\r\n[mcp_servers.a] # mine\r\nurl = 'u' # kept\r\n\r\n[mcp_servers.a.env]\r\nK = 'v'\r\n",
    );
  });
});

describe("a server is added to a YAML file, or replaced in its place", () => {
  const entry = { cmd: "c", args: ["a: b", "\u0085"] };
  const lines = (indent: string): string => `${indent}f:\n${indent}  cmd: "c"\n${indent}  args: ["a: b", "\\u0085"]\n`;
  test.each([
    ["", `extensions:\n${lines("  ")}`],
    ["# a", `# a\nextensions:\n${lines("  ")}`],
    ["a: 1", `a: 1\nextensions:\n${lines("  ")}`],
    ["a: 1\r\n# b\r\n", `a: 1\nextensions:\n${lines("  ")}# b\n`.replaceAll("\n", "\r\n")],
    ["\uFEFFa: 1\n", `\uFEFFa: 1\nextensions:\n${lines("  ")}`],
    ["extensions: {} # none\nb: 1\n", `extensions: # none\n${lines("  ")}b: 1\n`],
    ["extensions:\n    x: {}\n\n# b\nb: 1\n", `extensions:\n    x: {}\n${lines("    ")}\n# b\nb: 1\n`],
    ["extensions:\n  f:\n    cmd: d # e\n  x: {}\n", `extensions:\n${lines("  ")}  x: {}\n`],
  ])("%j", async (before, after) => {
    expect(await changeServers("goose", file, before, { remove: [], set: { name: "f", entry } })).toBe(after);
  });

  test("tables in an entry are read back as they were", async () => {
    const odd = {
      headers: { "a b": 'say "x"', "": "\u2028\uFEFF\u007f\n\t\\" },
      on: true,
      n: 1.5,
      none: [],
      empty: {},
    };
    const text = await changeServers("goose", file, "", { remove: [], set: { name: "f", entry: odd } });
    expect((await openClientText("goose", file, text)).value).toEqual({ extensions: { f: odd } });
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  });
});

test("whatever a YAML file holds, an edit keeps its lines and changes only its own server, or is refused", async () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "#", "-", "'", '"', "é", "\t", "{", "&", "*", "|") }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const name = fc.oneof(fc.constantFrom("a", "x y", "1", "null", "~", "a: b", "__proto__", "#"), fc.string());
  const server = fc.dictionary(name, fc.oneof(scalar, fc.array(scalar), fc.dictionary(name, scalar)), { maxKeys: 4 });
  const settings = fc.record({
    before: fc.dictionary(name, scalar, { maxKeys: 3 }),
    servers: fc.option(fc.dictionary(name, fc.oneof(server, scalar), { maxKeys: 4 }), { nil: undefined }),
    after: fc.dictionary(name, server, { maxKeys: 3 }),
    options: fc.record({
      indent: fc.constantFrom(1, 2, 4, 7),
      lineWidth: fc.constantFrom(0, 20, 80),
      indentSeq: fc.boolean(),
      blockQuote: fc.constantFrom(true, false, "folded" as const, "literal" as const),
      defaultStringType: fc.constantFrom("PLAIN" as const, "QUOTE_SINGLE" as const, "BLOCK_LITERAL" as const),
    }),
    eol: fc.constantFrom("\n", "\r\n"),
    end: fc.constantFrom("", "\n", "# end", "  # end\n", "\n\n"),
  });
  let edited = 0;
  await fc.assert(
    fc.asyncProperty(settings, async ({ before, servers, after, options, eol, end }) => {
      const value = new Map<string, unknown>([
        ...Object.entries(before),
        ...(servers === undefined ? [] : [["extensions", servers] as const]),
        ...Object.entries(after),
      ]);
      const written = value.size === 0 ? "" : stringify(Object.fromEntries(value), options);
      const text = written.replaceAll("\n", eol) + end;
      const first = await openClientText("goose", file, text).catch(() => undefined);
      if (first === undefined) return;
      const set = { name: "fairlead", entry: { cmd: "c", args: ["a"], envs: { A: "b" } } };
      const result = await changeServers("goose", file, text, { remove: [], set }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(HostError);
        return undefined;
      });
      if (result === undefined) return;
      edited += 1;
      // All lines stay in their order, except for an empty mapping that the lines of the server replace.
      const lines = text.replace(/^(["']?extensions["']?:)\s*\{\}/m, "$1").split(/\r?\n/);
      const kept = result.split(/\r?\n/);
      let at = 0;
      for (const line of kept) if (line === lines[at]) at += 1;
      expect(at).toBeGreaterThanOrEqual(lines.at(-1) === "" ? lines.length - 1 : lines.length);
      const undone = await changeServers("goose", file, result, { remove: ["fairlead"] });
      const { value: again } = await openClientText("goose", file, undone);
      expect({ ...again, extensions: again["extensions"] ?? {} }).toEqual({
        ...first.value,
        extensions: first.value["extensions"] ?? {},
      });
    }),
    { numRuns: scaled(5000, 300), seed: seed() },
  );
  expect(edited).toBeGreaterThan(scaled(2000, 100));
});

test("a YAML file with tens of thousands of keys is edited in seconds", async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `k${at}`);
  const text = `extensions:\n${names.map((name) => `  ${name}: {}\n`).join("")}`;
  const set = { name: "fairlead", entry: { cmd: "c" } };
  const after = await changeServers("goose", file, text, { remove: [], set });
  expect(after).toBe(`${text}  fairlead:\n    cmd: "c"\n`);
  await expect(openClientText("goose", file, `${text}  k7: {}\n`)).rejects.toThrow(
    `${file}:10002:3: the key "k7" occurs twice; the file was not changed`,
  );
});

describe("a server is removed from a YAML file", () => {
  test.each([
    ["extensions:\n  a:\n    cmd: x\n  b: {}\n", "extensions:\n  b: {}\n"],
    [
      "extensions:\n  b: {}\n  # mine\n  a: # this\n    cmd: x # y\n    # z\n# end",
      "extensions:\n  b: {}\n  # mine\n    # z\n# end",
    ],
    ["extensions: # all\n  a:\n    cmd: x\nb: 1\n", "extensions: {} # all\nb: 1\n"],
    ["extensions:\n  b: {}\n  a: |\n    x\n\nc: 1\n", "extensions:\n  b: {}\n\nc: 1\n"],
    ["extensions:\r\n  a: {}\r\n  b: {}", "extensions:\r\n  b: {}"],
  ])("%j", async (before, after) => {
    expect(await changeServers("goose", file, before, { remove: ["a"] })).toBe(after);
  });

  test("the servers that connect moved come back with their own lines", async () => {
    const before = "extensions:\n  a:\n    cmd: x # mine\n    d: |\n      two\n\n      lines\n  b: {}\n";
    const moved = await changeServers("goose", file, before, {
      remove: ["a", "b"],
      set: { name: "fairlead", entry: { cmd: "c" } },
    });
    const text = `GOOSE_MODEL: new\n${moved}`;
    expect(await removeOwnEntry("goose", file, text, { before, name: "fairlead", moved: ["a", "b"] })).toBe(
      `GOOSE_MODEL: new\n${before}`,
    );
  });

  test("extensions that connect added go with the last server", async () => {
    const text = 'a: 1\nextensions:\n  fairlead:\n    cmd: "c"\nb: 2\n';
    const request = { before: "a: 1\n", name: "fairlead", moved: [] };
    expect(await removeOwnEntry("goose", file, text, request)).toBe("a: 1\nb: 2\n");
  });
});
