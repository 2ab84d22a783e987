import { describe, expect, test } from "vitest";
import { machine, projectFile, userFile } from "./machine.ts";

/** A PATH without the command on it. */
const env = { PATH: "" };

const demoText = `demo: 6 tools

  greet(name: string, language?: "en" | "de" | "es" | "fr" | "ja" = "en", loud?: boolean = false)
      Greet a person by name.

  picture(pattern?: "waves" | "rings" | "squares" = "waves", size?: integer = 64)
      Draw a small square picture and return it as a PNG.

  statistics(text: string)
      Count the characters, words and lines of a text, and find its longest word.

  count(to?: integer = 5, pause?: number = 300)
      Count from one upwards with a pause before each number, and report progress.

  wait(seconds?: number = 10)
      Wait without a sign of life, then answer. Try Ctrl-C or a timeout.

  fail(reason?: string = "this is what it is for")
      Report an error, as a tool does that could not do its work.
`;

test.each([[["tools"]], [["tools", "demo"]]])(
  "with nothing configured, %j lists the demo server's tools and a call to try",
  async (argv) => {
    await using here = await machine();
    expect(await here.runWith({ env }, ...argv)).toEqual({
      code: 0,
      stdout: demoText,
      stderr: "\nTry: npx fairlead call demo.greet name=Ada\n",
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
        description: "Wait without a sign of life, then answer. Try Ctrl-C or a timeout.",
        parametersJsonSchema: {
          type: "object",
          properties: {
            seconds: { type: "number", description: "how long to wait", minimum: 0, maximum: 3600, default: 10 },
          },
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        decision: "ask_user",
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
    expect(stderr).toContain("not trusted: no rule covers it\n  next: npx fairlead trust add\n");
    expect(stderr.endsWith("No tools to show. To see some: npx fairlead tools demo\n")).toBe(true);
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

test("--help shows the operand and examples", async () => {
  await using here = await machine();
  const { code, stdout } = await here.run("tools", "--help");
  expect(code).toBe(0);
  expect(stdout).toContain("Usage: fairlead tools [options] [server]");
  expect(stdout).toContain("fairlead tools demo --json");
});
