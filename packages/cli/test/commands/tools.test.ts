import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { type Machine, machine, projectFile, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

/** A PATH without the command on it. */
const env = { PATH: "" };

const demoText = `demo: 6 tools

  greet(name: string, language?: "en" | "de" | "es" | "fr" | "ja" = "en", loud?: boolean = false) [read-only] as demo__greet
      Greet a person by name.

  picture(pattern?: "waves" | "rings" | "squares" = "waves", size?: integer = 64) [read-only] as demo__picture
      Draw a small square picture and return it as a PNG.

  statistics(text: string) → {characters: integer, words: integer, lines: integer, longestWord: string} [read-only] as demo__statistics
      Count the characters, words and lines of a text, and find its longest word.

  count(to?: integer = 5, pause?: number = 300) [read-only] as demo__count
      Count from one upwards with a pause before each number, and report progress.

  wait(seconds?: number = 10) [read-only] as demo__wait
      Wait without sending anything, then answer. Try Ctrl-C or a timeout.

  fail(reason?: string = "this is a test") [read-only] as demo__fail
      Report an error, as a tool does when it fails.
`;

test.each([[["tools"]], [["tools", "demo"]]])(
  "with nothing configured, %j lists the demo server's tools and a call to try",
  async (argv) => {
    await using here = await machine();
    expect(await here.runWith({ env }, ...argv)).toEqual({
      code: 0,
      stdout: demoText,
      stderr: "\nTry: npx --no -- fairlead call demo.greet name=Ada\n",
    });
    expect((await here.run("call", "demo.greet", "name=Ada")).stdout).toBe("Hello, Ada!\n");
  },
);

test("--quiet leaves the data", async () => {
  await using here = await machine();
  expect(await here.run("tools", "--quiet")).toEqual({ code: 0, stdout: demoText, stderr: "" });
});

test("--json has each tool with its names, schema, hints and what a model's call would meet", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.run("tools", "demo", "--json");
  const document = JSON.parse(stdout) as { tools: { name: string }[] };
  expect({ code, stderr, names: document.tools.map(({ name }) => name) }).toEqual({
    code: 0,
    stderr: "",
    names: ["demo__greet", "demo__picture", "demo__statistics", "demo__count", "demo__wait", "demo__fail"],
  });
  expect({ ...document, tools: document.tools.slice(4, 5) }).toEqual({
    schemaVersion: 1,
    tools: [
      {
        name: "demo__wait",
        server: "demo",
        serverToolName: "wait",
        description: "Wait without sending anything, then answer. Try Ctrl-C or a timeout.",
        title: "Take a while",
        parametersJsonSchema: {
          type: "object",
          properties: {
            seconds: { type: "number", description: "how long to wait\nDefault: 10.", minimum: 0, maximum: 3600 },
          },
        },
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        decision: "ask_user",
        repairs: [
          { path: "/properties/seconds", keyword: "default", action: "moved", note: expect.any(String) },
          { path: "", keyword: "additionalProperties", action: "removed", note: expect.any(String) },
        ],
      },
    ],
    quarantined: [],
  });
});

describe("with servers configured", () => {
  const files = {
    [userFile]: { mcpServers: { github: { command: "no-such-program" } } },
    [projectFile]: { mcpServers: { "local\u001b[2J": { command: "local" } } },
  };

  test("each that cannot be connected to is named with its reason, and the demo server is not listed", async () => {
    await using here = await machine(files);
    const { stderr, ...rest } = await here.runWith({ env }, "tools");
    expect(rest).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/"github" did not start: .*"no-such-program".*\n {2}next: /);
    expect(stderr).toContain('"local␛[2J" (');
    expect(stderr).toContain("not trusted: no rule covers it\n  next: npx --no -- fairlead trust add\n");
    expect(stderr.endsWith("No tools to show. To see some: npx --no -- fairlead tools demo\n")).toBe(true);
    expect(JSON.parse((await here.run("tools", "--json")).stdout)).toEqual({
      schemaVersion: 1,
      tools: [],
      quarantined: [],
    });
  });

  test("the demo server is there by name", async () => {
    await using here = await machine(files);
    expect(await here.runWith({ env }, "tools", "demo")).toMatchObject({ code: 0, stdout: demoText });
  });

  test.each([
    ["github", 4, 'fairlead: "github" did not start: '],
    ["githbu", 2, 'fairlead: there is no server "githbu"; did you mean "github"?\n  next: fairlead mcp list\n'],
  ])("asking for %s alone is an error", async (server, code, stderr) => {
    await using here = await machine(files);
    const ending = await here.run("tools", server);
    expect(ending).toMatchObject({ code, stdout: "" });
    expect(ending.stderr.startsWith(stderr)).toBe(true);
  });
});

/** Servers that offer what is in a file each: the first of them has the name of the first key. */
async function shop(tools: Readonly<Record<string, readonly object[]>>, entry: object = {}): Promise<Machine> {
  const here = await machine();
  const servers = await Promise.all(
    Object.entries(tools).map(async ([name, list]) => {
      await here.write(`${name}.json`, list);
      return [name, { ...stdioServer("catalog", `${here.path}/${name}.json`), ...entry }];
    }),
  );
  await here.write(userFile, { mcpServers: Object.fromEntries(servers) });
  return here;
}

const inputSchema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
const search = { name: "search", description: "Finds things.", inputSchema };
const remove = { name: "remove", inputSchema, annotations: { destructiveHint: true } };

test("servers stand below each other, and a name that two tools want is kept by the first", async () => {
  await using here = await shop({ one: [remove, search], two: [search] });
  expect(await here.run("tools")).toEqual({
    code: 0,
    stdout: `one: 2 tools

  remove(q: string) [destructive]

  search(q: string)
      Finds things.

two: 1 tool

  search(q: string) as two__search
      Finds things.
`,
    stderr: "\nTry: fairlead call one.search q=text\n",
  });
});

test("the second keeps its qualified name when it is listed alone", async () => {
  await using here = await shop({ one: [search], two: [search] });
  await here.run("tools");
  expect((await here.run("tools", "two")).stdout).toContain("as two__search");
});

describe("what is not offered as the server wrote it", () => {
  const odd = { name: "odd", inputSchema: { type: "object", properties: { n: { type: "number", multipleOf: 3 } } } };
  const hopeless = { name: "hopeless", inputSchema: { type: "object", description: "x".repeat(300_000) } };

  test("is said at the end, the rest as if nothing were", async () => {
    await using here = await shop({ one: [search, odd, hopeless] });
    const { stdout, stderr } = await here.run("tools", "one");
    expect(stdout).toMatch(
      /^one: 2 tools\n\n {2}search\(q: string\)\n {6}Finds things\.\n\n {2}odd\(n\?: number\)\n\nnot offered to a model: 1 tool\n {2}one\.hopeless: the schema is larger than .*\n$/,
    );
    expect(stderr).toBe(
      "\n1 of 2 tools was adapted to the model's API: fairlead tools one --repairs\n\nTry: fairlead call one.search q=text\n",
    );
  });

  test("is shown change by change with --repairs", async () => {
    await using here = await shop({ one: [search, odd] });
    const { stdout, stderr } = await here.run("tools", "--repairs");
    expect(stdout).toMatch(
      /^one: 1 of 2 tools was adapted.*\n\n {2}odd\n {6}multipleOf moved at \/properties\/n: .*A multiple of 3\.\n$/,
    );
    expect(stderr).toBe("");
  });

  test("is there as it was with --raw", async () => {
    await using here = await shop({ one: [odd, hopeless] });
    expect(JSON.parse((await here.run("tools", "--raw")).stdout)).toEqual({
      schemaVersion: 1,
      servers: [{ name: "one", tools: [odd, hopeless] }],
    });
  });

  test("--raw goes with nothing that is about another form", async () => {
    await using here = await machine();
    expect(await here.run("tools", "--raw", "--repairs")).toMatchObject({ code: 2, stdout: "" });
  });
});

test("filters are counted, and a name in them that no tool has is pointed out", async () => {
  await using here = await shop({ one: [search, remove] }, { excludeTools: ["remove", "serach"] });
  const warning = '"one": excludeTools names "serach", but there is no such tool; did you mean "search"?';
  const { stdout, stderr } = await here.run("tools", "one", "--quiet");
  expect(stdout).toMatch(/^one: 1 tool \(1 more hidden by excludeTools\)\n/);
  expect(stderr).toBe(`${warning}\n`);
  const document = JSON.parse((await here.run("tools", "--json")).stdout);
  expect(document).toMatchObject({
    hidden: [{ server: "one", serverToolName: "remove", setting: "excludeTools" }],
    warnings: [{ server: "one", message: warning.slice('"one": '.length) }],
  });
});

test("what a server says can neither move the cursor nor hide", async () => {
  const description = "a\u001b[2J\u202eb";
  const properties = { "x\u001b": { type: "string", enum: ["\u0007"] } };
  await using here = await shop({
    one: [{ name: "t\u200b\u001b", description, inputSchema: { type: "object", properties } }],
  });
  for (const form of [[], ["--all"], ["--repairs"], ["--json"], ["--raw"]]) {
    const { stdout, stderr } = await here.run("tools", ...form);
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  }
});

test("tools that are known are listed without starting their server, until --refresh", async () => {
  await using here = await shop({ one: [search] });
  await here.run("tools");
  await here.write("one.json", [remove]);
  expect((await here.run("tools")).stdout).toContain("search(");
  expect((await here.run("tools", "one", "--refresh")).stdout).toContain("remove(");
  expect((await here.run("tools")).stdout).toContain("remove(");
});

test("what was known more than a day ago is shown with its age", async () => {
  await using here = await shop({ one: [search] });
  await here.run("tools");
  const folder = "home/.fairlead/catalogs";
  const [file = ""] = await readdir(join(here.path, folder));
  const old = (await here.read(`${folder}/${file}`)).replace(
    /("savedAt": ?)(\d+)/,
    (_, key: string, time: string) => `${key}${Number(time) - 73 * 60 * 60 * 1000}`,
  );
  await here.write(`${folder}/${file}`, old);
  expect((await here.run("tools")).stderr).toMatch(
    /^catalog of "one" cached 3 days ago; add --refresh to read it again\n/,
  );
});

test("a server can be typed instead of configured", async () => {
  await using here = await shop({ one: [search] });
  const line = commandLine(stdioServer("catalog", `${here.path}/one.json`));
  const ending = await here.run("tools", "--stdio", line, "--name", "typed", "--quiet");
  expect(ending).toEqual({
    code: 0,
    stdout: "typed: 1 tool\n\n  search(q: string)\n      Finds things.\n",
    stderr: "",
  });
  expect(await here.run("tools", "one", "--stdio", line)).toMatchObject({ code: 2, stdout: "" });
});

test("on a terminal a signature is broken between its parameters", async () => {
  await using here = await machine();
  await using terminal = openTerminal(here, "tools", "demo");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain(
    `
  greet(name: string, language?: "en" | "de" | "es" | "fr" | "ja" = "en", loud?: boolean = false) [read-only]
    as demo__greet
      Greet a person by name.
`,
  );
});

test("--help shows the operand and examples", async () => {
  await using here = await machine();
  const { code, stdout } = await here.run("tools", "--help");
  expect(code).toBe(0);
  expect(stdout).toContain("Usage: fairlead tools [options] [server]");
  expect(stdout).toContain("fairlead tools demo --json");
});
