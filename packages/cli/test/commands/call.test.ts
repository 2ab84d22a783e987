import { readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

describe("arguments", () => {
  test.each([
    [["name=Ada"], "Hello, Ada!\n"],
    [["name=Ada", "loud=true", "language=fr"], "BONJOUR, ADA!\n"],
    [["name=a=b"], "Hello, a=b!\n"],
    [["name=5"], "Hello, 5!\n"],
    [['name:="5"'], "Hello, 5!\n"],
    [["name=@who.txt"], "Hello, Grace\n!\n"],
    [["name:=@who.json"], "Hello, Grace!\n"],
    [["--args", '{"name":"Ada"}'], "Hello, Ada!\n"],
    [["--", "name=--json"], "Hello, --json!\n"],
    [["--yes", "name=Ada"], "Hello, Ada!\n"],
  ])("%j", async (args, stdout) => {
    await using here = await machine({ "project/who.txt": "Grace\n", "project/who.json": '"Grace"' });
    expect(await here.run("call", "demo.greet", ...args)).toEqual({ code: 0, stdout, stderr: "" });
  });

  test.each([
    ['demo.greet(name: "Ada", loud: true)', "HELLO, ADA!\n"],
    ["demo.greet('Ada', \"fr\")", "Bonjour, Ada!\n"],
    ["demo.greet('Ada', loud: true,)", "HELLO, ADA!\n"],
    ["demo.count(to: 2, pause: 0)", "1 2\n"],
  ])("as in code: %s", async (word, stdout) => {
    await using here = await machine();
    expect(await here.run("call", "--quiet", word)).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("from stdin", async () => {
    await using here = await machine();
    const ending = await here.runWith({ stdin: '{"name": "Ada"}' }, "call", "demo.greet", "-");
    expect(ending).toEqual({ code: 0, stdout: "Hello, Ada!\n", stderr: "" });
  });

  test("with the tool in two options", async () => {
    await using here = await machine();
    const ending = await here.run("call", "--server", "demo", "--tool", "greet", "name=Ada");
    expect(ending).toEqual({ code: 0, stdout: "Hello, Ada!\n", stderr: "" });
  });

  test.each([
    [["demo.greet", "Ada"], '"Ada" is not an argument\n  next: write key=value, key:=json, or --args JSON'],
    [["demo.greet", "=Ada"], '"=Ada" is not an argument\n  next: write key=value, key:=json, or --args JSON'],
    [["demo.greet", "name=Ada", "name=Bob"], '"name" is given twice'],
    [["demo.greet", "name:=Ada"], /^name is not JSON: /],
    [
      ["demo.greet", "name=@home"],
      `name: cannot read the file home: the file does not exist\n  next: to pass the text itself, write: name:='"@home"'`,
    ],
    [["demo.greet", "loud=yes"], 'loud must be true or false, not "yes"'],
    [["demo.greet", "--args", "{"], /^--args is not JSON: /],
    // Where a script's variable is empty, the tool is not called without arguments.
    [["demo.greet", "--args", ""], /^--args is not JSON: /],
    [
      ["demo.greet", "--args", "[1]"],
      "demo.greet: Invalid parameters: must be an object, not a list\n  next: fairlead call demo.greet name=Ada",
    ],
    [["demo.greet", "--args", "7"], /^demo\.greet: Invalid parameters: must be an object, not a number\n/],
    [["demo.greet", "-"], /^stdin is not JSON: /],
    [
      ["demo.greet", "--args", "{}", "name=Ada"],
      /^arguments given in more than one way: use only one of key=value, tool\(key: value\), --args and - \(stdin\)/,
    ],
    [["demo.wait", "--timeout", "soon"], '--timeout must be a time such as 500ms, 10s or 2m, not "soon"'],
    [["--server", "demo", "name=Ada"], "--server and --tool must be given together"],
    [["demo.gret"], '"demo" has no tool "gret"; did you mean "greet"?\n  next: fairlead tools demo'],
    [["greet", "name=Ada"], 'there is no tool "greet"; did you mean "demo.greet"?\n  next: fairlead tools'],
    [[], "the tool's name is missing\n  next: fairlead tools"],
    [["demo.greet", "name:Ada"], '"name:Ada" is not an argument\n  next: write name=Ada'],
    [["demo.greet"], /^demo\.greet needs "name"\n {2}next: match the signature: greet\(name: string, /],
    [
      ["demo.greet", "nmae=Ada"],
      /^demo\.greet has no parameter "nmae"; did you mean "name"\?\n {2}next: match the signature: greet\(/,
    ],
    [["demo.greet", "--args", '{"nmae":"Ada"}'], /^demo\.greet has no parameter "nmae"; did you mean "name"\?/],
    [
      ["demo.greet", "name=Ada", "language=er"],
      /^language must be one of en, de, es, fr, ja, not "er"; did you mean en\?$/,
    ],
    [["demo.greet(name: Ada)"], /^character 18: "Ada" is not a value; write text in quotes: "Ada"$/],
    [['demo.greet("Ada", "en", true, 4)'], /^demo\.greet has 3 parameters but got 4 positional values$/],
    [['demo.greet("Ada", name: "Ada")'], '"name" is given twice: by position and by name'],
    [['demo.greet("Ada")', "loud=true"], /^arguments given in more than one way: /],
  ])("mistakes: %j", async (args, words) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("call", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const message = stderr.replace(/^fairlead: /, "").trimEnd();
    if (typeof words === "string") expect(message).toBe(words);
    else expect(message).toMatch(words);
  });

  test("more on stdin than any arguments need is refused", async () => {
    await using here = await machine();
    const ending = await here.runWith({ stdin: " ".repeat(16 * 1024 * 1024 + 1) }, "call", "demo.greet", "-");
    expect(ending).toEqual({ code: 1, stdout: "", stderr: "fairlead: stdin is too large: more than 16777216 bytes\n" });
  });
});

test("a server that may not be called is named with the reason, before any look at the arguments", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { out: { command: "out" } }, mcp: { excluded: ["out"] } },
  });
  const { code, stdout, stderr } = await here.run("call", "out.tool", "nonsense");
  expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
  expect(stderr).toContain('fairlead: "out" is excluded by mcp.excluded in ');
});

describe("progress", () => {
  const lines = "demo.count 1/2 counted to 1\ndemo.count 2/2 counted to 2\n";

  test.each([
    [[], lines],
    [["--quiet"], ""],
  ])("is a line each on stderr: %j", async (options, stderr) => {
    await using here = await machine();
    const ending = await here.run("call", "demo.count", "to=2", "pause=0", ...options);
    expect(ending).toEqual({ code: 0, stdout: "1 2\n", stderr });
  });

  test("is one line on a terminal, gone when the result is there", async () => {
    await using here = await machine();
    await using terminal = openTerminal(here, "call", "demo.count", "to=3", "pause=0");
    expect(await terminal.exitCode).toBe(0);
    // Looked for in all that was written: on a busy machine the line may be gone before it could be seen.
    expect(terminal.output()).toMatch(/\[2Kdemo\.count █+░+ \d\d% counted to \d {2}\d s/);
    expect(terminal.screen()).toBe("1 2 3");
  });
});

test("Ctrl-C cancels the call, and the exit code is 130", async () => {
  await using here = await machine();
  await using terminal = openTerminal(here, "call", "demo.count", "to=100", "pause=100");
  await terminal.until(/counted to/);
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(130);
  expect(terminal.screen()).toMatch(/fairlead: demo\.count: the request was cancelled$/);
});

test("Ctrl-C while arguments are typed makes no call", async () => {
  await using here = await machine();
  await using terminal = openTerminal(here, "call", "demo.greet", "-");
  await terminal.until(/press Ctrl-D\.$/);
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(130);
  expect(terminal.screen()).toMatch(/fairlead: cancelled$/);
});

test("an error of the tool is printed like a result, and the exit code is 7", async () => {
  await using here = await machine();
  expect(await here.run("call", "demo.fail", "reason=no wind")).toEqual({
    code: 7,
    stdout: "This tool failed: no wind\n",
    stderr: "fairlead: demo.fail reported an error\n",
  });
});

test("a timeout names the milliseconds and what to raise", async () => {
  await using here = await machine();
  expect(await here.run("call", "demo.wait", "--timeout", "1")).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "fairlead: demo.wait timed out: no answer within 1 ms; the request may or may not have run\n  next: give the call a longer --timeout\n",
  });
});

describe("--json prints one document", () => {
  async function document(...argv: readonly string[]) {
    await using here = await machine();
    const { code, stdout } = await here.run("call", ...argv, "--json");
    const { durationMs, ...rest } = JSON.parse(stdout) as { durationMs: unknown };
    return { code, hasDuration: Number.isInteger(durationMs), ...rest };
  }

  test("of a result", async () => {
    const data = { characters: 4, words: 1, lines: 1, longestWord: "ahoy" };
    expect(await document("demo.statistics", "text=ahoy")).toEqual({
      code: 0,
      hasDuration: true,
      schemaVersion: 1,
      ok: true,
      server: "demo",
      tool: "statistics",
      content: [{ type: "text", text: JSON.stringify(data) }],
      structuredContent: data,
      display: JSON.stringify(data),
    });
  });

  test("of an error that the tool reports", async () => {
    expect(await document("demo.fail")).toEqual({
      code: 7,
      hasDuration: true,
      schemaVersion: 1,
      ok: false,
      server: "demo",
      tool: "fail",
      content: [{ type: "text", text: "This tool failed: this is a test" }],
      display: "This tool failed: this is a test",
      error: { code: "tool_error", message: "demo.fail reported an error" },
    });
  });

  test("of a call that came to nothing", async () => {
    expect(await document("demo.gret")).toEqual({
      code: 2,
      hasDuration: true,
      schemaVersion: 1,
      ok: false,
      server: "demo",
      tool: "gret",
      content: [],
      display: "",
      error: {
        code: "tool_unknown",
        message: '"demo" has no tool "gret"; did you mean "greet"?',
        next: "fairlead tools demo",
      },
    });
  });

  test("of a command line that makes no sense", async () => {
    expect(await document("demo.greet", "Ada")).toEqual({
      code: 2,
      hasDuration: false,
      schemaVersion: 1,
      error: { code: "usage", message: '"Ada" is not an argument', next: "write key=value, key:=json, or --args JSON" },
    });
  });
});

describe("--save", () => {
  const words = "A picture of waves, 64 × 64 pixels.\n[image image/png, 824 B]";

  test("without it, bytes are described", async () => {
    await using here = await machine();
    expect(await here.run("call", "demo.picture")).toEqual({ code: 0, stdout: `${words}\n`, stderr: "" });
  });

  test("writes files for the owner only, under names that are free", async () => {
    await using here = await machine({ "project/out/demo-picture-1.png": "mine", "aside.png": "aside" });
    // A link is not followed either.
    await symlink(join(here.path, "aside.png"), join(here.project, "out/demo-picture-2.png"));
    const path = join(here.project, "out/demo-picture-3.png");
    const ending = await here.run("call", "demo.picture", "--save", "out");
    expect(ending).toEqual({ code: 0, stdout: `${words} saved as ${path}\n`, stderr: "" });
    expect((await readFile(path)).subarray(1, 4).toString()).toBe("PNG");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect([await here.read("project/out/demo-picture-1.png"), await here.read("aside.png")]).toEqual([
      "mine",
      "aside",
    ]);
    const { stdout } = await here.run("call", "demo.picture", "--save", "new/folder", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      saved: [join(here.project, "new/folder/demo-picture-1.png")],
    });
  });

  test("a folder that cannot be made is noticed before the call", async () => {
    await using here = await machine({ "project/file": "" });
    expect(await here.run("call", "demo.count", "--save", "file/below")).toEqual({
      code: 2,
      stdout: "",
      stderr: "fairlead: --save file/below: cannot create the folder: a part of its path is a file, not a folder\n",
    });
  });
});

test("every example of --help works", async () => {
  await using here = await machine({ "project/README.md": "ahoy" });
  const { stdout } = await here.run("call", "--help");
  const examples = [...stdout.matchAll(/^ {2}fairlead (call (?:demo|--server).+)$/gm)].map(([, words = ""]) =>
    words.split(" "),
  );
  expect(examples).toHaveLength(6);
  const endings = await Promise.all(
    examples.map((argv) => here.run(...argv.map((word) => (word === "2000" ? "1" : word)))),
  );
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 1]);
});
