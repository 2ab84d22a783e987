import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { processesOf } from "../support/left-over.ts";
import { type Library, library } from "../support/library.ts";
import { machine } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const about =
  "A fairlead is the fitting on a ship's rail that guides a line in cleanly, whatever angle it comes from.\n";
const bowline = "A fixed loop that does not slip and is easy to untie after a load.\n";

describe("the demo server", () => {
  test.each([
    [["demo://about"], about],
    [["@demo://about"], about],
    [["demo:demo://about"], about],
    [["demo:about"], about],
    [["@demo://knots/bowline"], bowline],
    [["demo://knots/{name}", "--arg", "name=bowline"], bowline],
    [["demo:demo://knots/{name}", "--arg", "name=bowline"], bowline],
    [["--server", "demo", "demo://knots/bowline"], bowline],
    [["--server", "demo", "demo://knots/{name}", "--arg", "name=bowline"], bowline],
  ])("read %j", async (words, stdout) => {
    await using here = await machine();
    expect(await here.run("read", ...words)).toEqual({ code: 0, stdout, stderr: "" });
  });

  test.each([
    [["about"], 2, '"about" is not the URI of a resource; did you mean @demo://about?\n  next: fairlead resources\n'],
    [
      ["demo://abuot"],
      2,
      '"demo" has no resource "demo://abuot"; did you mean @demo://about?\n  next: fairlead resources demo\n',
    ],
    [["x://y"], 2, 'no server has a resource "x://y"\n  next: fairlead resources\n'],
    [["x://{y}", "--arg", "y=1"], 2, 'no server has the template "x://{y}"\n  next: fairlead resources\n'],
    [
      ["demo://knot/{name}"],
      2,
      `no server has the template "demo://knot/{name}"; did you mean 'demo://knots/{name}'?\n  next: fairlead resources\n`,
    ],
    [
      ["demo://knots/{name}"],
      2,
      "demo://knots/{name} needs \"name\"\n  next: fairlead read 'demo://knots/{name}' --arg name=…\n",
    ],
    [
      ["demo://knots/{name}", "--arg", "nmae=x"],
      2,
      'demo://knots/{name} has no variable "nmae"; did you mean "name"?\n  next: fairlead read \'demo://knots/{name}\' --arg name=…\n',
    ],
    [["demo://knots/{name}", "--arg", "name=../x"], 2, '"demo://knots/..%2Fx" was not requested: it contains ".."\n'],
    [
      ["demo://about", "--arg", "name=x"],
      2,
      '--arg works only with a template, and "demo://about" has no variables\n  next: fairlead read --help\n',
    ],
    [["demo://about", "--arg", "x"], 2, '--arg takes name=value, not "x"\n'],
    [["demo://knots/nope"], 7, "demo://knots/nope of demo: Resource not found\n"],
    [
      ["--server", "dmeo", "demo://about"],
      2,
      'there is no server "dmeo"; did you mean "demo"?\n  next: fairlead mcp list\n',
    ],
  ])("read %j is explained", async (words, code, stderr) => {
    await using here = await machine();
    expect(await here.run("read", ...words)).toEqual({ code, stdout: "", stderr: `fairlead: ${stderr}` });
    const { stdout } = await here.run("read", ...words, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ schemaVersion: 1, error: { message: expect.any(String) } });
  });

  test("bytes are described, or saved", async () => {
    await using here = await machine();
    expect(await here.run("read", "demo://picture")).toEqual({
      code: 0,
      stdout: "[resource image/png, 824 B]\n",
      stderr: "next: add --save . to save the contents in a file\n",
    });
    const path = join(here.project, "demo-picture-1.png");
    expect(await here.run("read", "demo://picture", "--save", ".")).toEqual({
      code: 0,
      stdout: `[resource image/png, 824 B] saved as ${path}\n`,
      stderr: "",
    });
    expect((await readFile(path)).subarray(1, 4).toString()).toBe("PNG");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});

describe("--save", () => {
  const raw = "\u001b[1mraw\u001b[0m";
  const many = [
    { uri: "one://many/1", text: raw },
    { uri: "one://many/2", mimeType: "text/markdown; charset=utf-8", blob: "AAAA" },
  ];
  const shelf = { contents: { "one://a": [{ uri: "one://a", text: raw }], "one://many": many } };

  test("puts a text, too, into the file that is named, as it came, and over no other", async () => {
    await using here = await library({ one: shelf });
    const path = join(here.project, "new.txt");
    const read = ["read", "--server", "one", "one://a", "--save", "new.txt"];
    expect(await here.run(...read)).toEqual({
      code: 0,
      stdout: `[resource text/plain, 11 B] saved as ${path}\n`,
      stderr: "",
    });
    expect(await readFile(path, "utf8")).toBe(raw);
    expect(await here.run(...read)).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: --save ${path}: the file already exists\n`,
    });
  });

  test("makes the folder that is written as one, and gives each content a file", async () => {
    await using here = await library({ one: shelf });
    const saved = ["one-many-1.txt", "one-many-1.md"].map((name) => join(here.project, "deep/er", name));
    const { stdout } = await here.run("read", "--server", "one", "one://many", "--save", "deep/er/", "--json");
    const read = { schemaVersion: 1, server: "one", uri: "one://many", contents: many };
    expect(JSON.parse(stdout)).toEqual({ ...read, saved });
    const printed = await here.run("read", "--server", "one", "one://many", "--json");
    expect(JSON.parse(printed.stdout)).toEqual(read);
    expect(await here.run("read", "--server", "one", "one://many", "--save", "file")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the resource has more than one part; give a folder instead of a file"),
    });
    expect(await here.run("read", "--server", "one", "one://many", "--save", "/proc/fairlead")).toMatchObject({
      code: 2,
    });
  });
});

test("several contents stand under their URIs, nothing is said to be nothing, and oddities are pointed out", async () => {
  await using here = await library({
    one: {
      contents: {
        "one://many": [
          { uri: "one://many/1", text: "a\n" },
          { uri: "one://many/2", blob: "AAAA" },
          { uri: "one://many/3" },
        ],
        "one://empty": [],
      },
    },
  });
  expect(await here.run("read", "--server", "one", "one://many", "-q")).toEqual({
    code: 0,
    stdout: `one://many/1
a

one://many/2
[resource application/octet-stream, 3 B]

one://many/3
[content of the unknown type "resource"]
`,
    stderr: "warning: contents have neither text nor blob\n",
  });
  expect(await here.run("read", "--server", "one", "one://empty")).toEqual({
    code: 0,
    stdout: "",
    stderr: "one://empty is empty\n",
  });
});

describe("whose it is", () => {
  const same = { resources: [{ uri: "shared://a", name: "a" }] };
  const shelves = {
    one: { ...same, contents: { "shared://a": [{ text: "of one" }] } },
    two: {
      resources: [...same.resources, { uri: "two://only", name: "only" }],
      resourceTemplates: [{ uriTemplate: "t://{x}", name: "t" }],
      contents: { "shared://a": [{ text: "of two" }], "two://only": [{ text: "only" }] },
    },
  };

  async function asked(here: Library): Promise<object> {
    return { one: await here.starts("one"), two: await here.starts("two") };
  }

  test("only the server that is named is started", async () => {
    await using here = await library(shelves);
    expect(await here.run("read", "two:shared://a")).toMatchObject({ code: 0, stdout: "of two\n" });
    expect(await here.run("read", "two.shared://a")).toMatchObject({ code: 0, stdout: "of two\n" });
    expect(await here.run("read", "@two://only")).toMatchObject({ code: 0, stdout: "only\n" });
    expect(await here.run("read", "two:shared://b")).toMatchObject({ code: 2 });
    expect(await asked(here)).toEqual({ one: 0, two: 4 });
  });

  test("a resource is found by its name, a bare name at the first server that has it", async () => {
    const twice = { uri: "two://again", name: "only" };
    await using here = await library(shelves);
    for (const [name, stdout] of [
      ["only", "only\n"],
      ["two.only", "only\n"],
      ["a", "of one\n"],
      ["two.a", "of two\n"],
    ] as const)
      expect(await here.run("read", name)).toMatchObject({ code: 0, stdout });
    await here.fill("two", { ...shelves.two, resources: [...shelves.two.resources, twice] });
    await here.run("resources", "two", "--refresh");
    expect(await here.run("read", "only")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"only" is ambiguous, it matches 2 resources: write @two://only or @two://again'),
    });
  });

  test("a bare URI is looked for where nothing is known yet, and then only asked of its server", async () => {
    await using here = await library(shelves);
    expect(await here.run("read", "shared://a")).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: "shared://a" is ambiguous, it matches 2 resources: write @one:shared://a or @two:shared://a\n  next: fairlead resources\n`,
    });
    expect(await asked(here)).toEqual({ one: 1, two: 1 });
    await here.fill("one", {});
    await here.run("resources", "one", "--refresh");
    expect(await here.run("read", "shared://a")).toMatchObject({ code: 0, stdout: "of two\n" });
    expect(await asked(here)).toEqual({ one: 2, two: 2 });
  });

  test("a template that two servers have is not guessed", async () => {
    const template = { resourceTemplates: [{ uriTemplate: "t://{x}", name: "t" }] };
    await using here = await library({ one: template, two: template });
    await here.run("resources");
    expect(await here.run("read", "t://{x}", "--arg", "x=1")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'fairlead: "t://{x}" is ambiguous: more than one server has this template; add --server one or --server two\n',
    });
    await here.run("read", "two.t://{x}", "--arg", "x=1");
    expect(await here.asked("two")).toEqual([expect.stringContaining("t://1")]);
  });

  test("what has come since the last run is found on the server that is named", async () => {
    await using here = await library({ one: {} });
    await here.run("resources");
    await here.fill("one", {
      resources: [{ uri: "one://new", name: "new" }],
      contents: { "one://new": [{ text: "new" }] },
    });
    expect(await here.run("read", "@one://new")).toEqual({ code: 0, stdout: "new\n", stderr: "" });
  });

  test("a server that cannot be asked is said to be so", async () => {
    await using here = await library({ one: {} });
    await here.write("home/.gemini/settings.json", { mcpServers: { gone: { command: "no-such-program" } } });
    expect(await here.run("read", "gone:x://y")).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^fairlead: "gone" did not start: /),
    });
    expect(await here.run("read", "x://y")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^"gone" did not start: [\s\S]*fairlead: no server has a resource "x:\/\/y"/),
    });
  });

  test("a server can be typed instead of configured", async () => {
    await using here = await library(shelves);
    const line = commandLine(stdioServer("library", join(here.path, "two.json")));
    expect(await here.run("read", "--stdio", line, "two://only")).toEqual({ code: 0, stdout: "only\n", stderr: "" });
    expect(await asked(here)).toEqual({ one: 0, two: 0 });
  });
});

test("more than one value for a variable is a list", async () => {
  const contents = { "one://a/b/c?q=d,e": [{ text: "found" }] };
  const resourceTemplates = [
    { uriTemplate: "one:/{/path*}{?q}", name: "t" },
    { uriTemplate: "one://{+path}{?q}", name: "u" },
  ];
  await using here = await library({ one: { resourceTemplates, contents } });
  const ending = await here.run("read", "one://{+path}{?q}", "--arg", "path=a/b/c", "--arg", "q=d", "--arg", "q=e");
  expect(ending).toEqual({ code: 0, stdout: "found\n", stderr: "" });
});

test("what a server sends can neither move the cursor nor hide, its errors neither", async () => {
  const odd = "a\u001b[2J\u202e\u200bb";
  await using here = await library({
    one: {
      contents: {
        "one://a": [
          { uri: odd, text: odd },
          { uri: odd, mimeType: odd, blob: "AAAA" },
        ],
      },
    },
  });
  for (const words of [["one://a"], ["one://a", "--json"], ["one://none"], ["one://none", "--json"]]) {
    const { stdout, stderr } = await here.run("read", "--server", "one", ...words);
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  }
  expect(await here.run("read", "--server", "one", "one://none")).toEqual({
    code: 7,
    stdout: "",
    stderr: "fairlead: one://none of one: nobody ␛[2Jhas\n  | seen that\n",
  });
});

test("Ctrl-C ends a reading that never ends, and the server is told", async () => {
  await using here = await library({ one: { contents: { "one://slow": null } } });
  await using terminal = openTerminal(here, "read", "--server", "one", "one://slow");
  await here.isAsked("one", "resources/read one://slow");
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(130);
  // The server runs in the shared process, which may read this after the command has ended.
  await here.isAsked("one", "notifications/cancelled");
  expect(await here.asked("one")).toEqual(["resources/read one://slow", "notifications/cancelled"]);
  expect(processesOf(here)).toEqual([]);
});
