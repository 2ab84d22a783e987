import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { anthropicApi, openaiApi, stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Ending, type Machine, machine } from "../support/machine.ts";
import { scene } from "../support/model-scene.ts";

const docs = new URL("../../../../docs/", import.meta.url);

/** As a reader would start it. */
async function runExample(
  name: string,
  { env, project }: Pick<Machine, "env" | "project">,
  input: string,
  ...argv: string[]
): Promise<Ending> {
  const file = fileURLToPath(new URL(`examples/${name}.mjs`, docs));
  const child = spawn(process.execPath, [file, ...argv], { cwd: project, env });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: Number(code), stdout, stderr };
}

test.each(["agent", "approval", "batch", "openai-loop"])("docs/library.md shows examples/%s.mjs as it is", (name) => {
  const page = readFileSync(new URL("library.md", docs), "utf8");
  expect(page).toContain(`\`\`\`js\n${readFileSync(new URL(`examples/${name}.mjs`, docs), "utf8")}\`\`\`\n`);
});

test.each(["anthropic-loop", "by-hand"])("the docs link to examples/%s.mjs", (name) => {
  const pages = ["library.md", "seed-classes.md"].map((page) => readFileSync(new URL(page, docs), "utf8")).join("");
  expect(pages).toContain(`examples/${name}.mjs`);
});

test("the agent runs what it may, and its model is told what it may not", async () => {
  await using here = await scene();
  const prompt = 'call demo__greet {"name":"Ada","language":"fr"}\ncall demo__count';
  const { code, stdout, stderr } = await runExample("agent", here, "", prompt);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("\nBonjour, Ada!\n");
  expect(stdout).toContain("demo__count: denied: demo.count denied: the user declined it\n");
});

describe("the approval screen", () => {
  const greet = 'call demo__greet {"name":"Ada\\u001b[2J"}';

  test("shows what would run, and a yes lets it run", async () => {
    await using here = await scene();
    const { code, stdout, stderr } = await runExample("approval", here, "1\n", greet);
    expect(code).toBe(0);
    expect(stdout).toContain("Hello, Ada");
    expect(stderr).toContain(`
demo.greet wants to run
  name: "Ada\\u001b[2J"
  asked because: the default for tools asks about it
  1  proceed_once
`);
    expect(stderr).toMatch(/demo__greet: ok\n$/);
    expect(stdout + stderr).not.toContain("\u001b");
  });

  test("a word, a number that is no answer and the end of the input are each a no", async () => {
    await using here = await scene();
    const { code, stderr } = await runExample("approval", here, "no\n99\n", [greet, greet, greet].join("\nthen\n"));
    expect(code).toBe(0);
    expect(stderr.match(/^demo[.]greet wants to run$/gm)).toHaveLength(3);
    expect(stderr.match(/^demo__greet: (?:denied|ok)$/gm)).toEqual(Array(3).fill("demo__greet: denied"));
  });
});

test("the batch answers every line, and the user is not asked", async () => {
  await using here = await scene();
  const lines = ['call demo__statistics {"text":"a b"}', "", 'call demo__greet {"name":"Ada"}', "Hello"];
  const { code, stdout, stderr } = await runExample("batch", here, lines.join("\n"));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const results = stdout.trimEnd().split("\n");
  expect(results.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      question: lines[0],
      answer: expect.stringContaining('"words":2') as string,
      reason: "stop",
      calls: [{ name: "demo__statistics", status: "ok" }],
    },
    {
      question: lines[2],
      answer: expect.stringContaining("denied") as string,
      reason: "stop",
      calls: [{ name: "demo__greet", status: "denied" }],
    },
    { question: "Hello", answer: expect.stringMatching(/^You said: Hello\n/) as string, reason: "stop", calls: [] },
  ]);
});

describe("a loop of one's own", () => {
  const prompt = 'call demo__greet {"name":"Ada"}\ncall demo__count\nthen\ncall demo__picture';

  test("on OpenAI's API runs what it may, and tells the model what it may not", async () => {
    await using here = await machine();
    await using api = await openaiApi({ apiKey: "k" });
    const env = { ...here.env, OPENAI_BASE_URL: api.baseUrl, OPENAI_API_KEY: "k", OPENAI_MODEL: "test-model" };
    const { code, stdout, stderr } = await runExample("openai-loop", { ...here, env }, "", prompt);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("\nHello, Ada!\n");
    expect(stdout).toMatch(/^demo__count: error: denied: demo[.]count [\s\S]*^demo__picture: error: denied: /m);
    expect(api.seen).toHaveLength(3);
  });

  test("on Anthropic's API runs what it may, pictures included, and tells the model what it may not", async () => {
    await using here = await machine();
    await using api = await anthropicApi();
    const env = { ...here.env, ANTHROPIC_BASE_URL: api.baseUrl, ANTHROPIC_API_KEY: api.settings.apiKey };
    const { code, stdout, stderr } = await runExample("anthropic-loop", { ...here, env }, "", prompt);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("\nHello, Ada!\n");
    expect(stdout).toMatch(/^demo__count: denied: demo[.]count [\s\S]* and image\/png$/m);
    expect(api.seen).toHaveLength(3);
  });

  test.each(["openai-loop", "anthropic-loop"])("%s says what the API said no to", async (name) => {
    await using here = await machine();
    await using refusing = await anthropicApi();
    const env = { ...here.env, OPENAI_BASE_URL: refusing.baseUrl, ANTHROPIC_BASE_URL: refusing.baseUrl };
    const { code, stderr } = await runExample(name, { ...here, env }, "", prompt);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Error: 40[14]: /);
  });
});

describe("Gemini CLI's classes by hand", () => {
  const servers = JSON.stringify({
    one: stdioServer("well-behaved"),
    two: stdioServer("well-behaved"),
    gone: { command: "no-such-program-here" },
  });

  test("list the tools of the servers that are there, each under one name", async () => {
    await using here = await machine();
    const { code, stdout, stderr } = await runExample("by-hand", here, "", servers);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^one: connected\ntwo: connected\ngone: disconnected$/m);
    expect(stderr).toMatch(/McpDiscoveryWarning: "gone" is not connected: .*no-such-program-here/);
    expect(stdout).toMatch(/^(\S+) [(]one[)]\n[\s\S]*^two__\1 [(]two[)]$/m);
  });

  test("do not run a tool with other arguments than its schema has", async () => {
    await using here = await machine();
    const { code, stderr } = await runExample("by-hand", here, "", servers, "echo", '{"text":7}');
    expect([code, stderr]).toEqual([1, expect.stringContaining("one.echo has invalid arguments")]);
  });

  test("run a tool", async () => {
    await using here = await machine();
    const { code, stdout } = await runExample("by-hand", here, "", servers, "two__echo", '{"text":"hello"}');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("hello") as string });
  });
});
