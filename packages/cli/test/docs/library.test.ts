import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Ending } from "../support/machine.ts";
import { type Scene, scene } from "../support/model-scene.ts";

const docs = new URL("../../../../docs/", import.meta.url);

/** As a reader would start it. */
async function runExample(name: string, { env, project }: Scene, input: string, ...argv: string[]): Promise<Ending> {
  const file = fileURLToPath(new URL(`examples/${name}.mjs`, docs));
  const child = spawn(process.execPath, [file, ...argv], { cwd: project, env });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: Number(code), stdout, stderr };
}

test.each(["agent", "approval", "batch"])("docs/library.md shows examples/%s.mjs as it is", (name) => {
  const page = readFileSync(new URL("library.md", docs), "utf8");
  expect(page).toContain(`\`\`\`js\n${readFileSync(new URL(`examples/${name}.mjs`, docs), "utf8")}\`\`\`\n`);
});

test("the agent runs what it may, and its model is told what it may not", async () => {
  await using here = await scene();
  const prompt = 'call demo__greet {"name":"Ada","language":"fr"}\ncall demo__count';
  const { code, stdout, stderr } = await runExample("agent", here, "", prompt);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("\nBonjour, Ada!\n");
  expect(stdout).toContain("demo__count: denied: demo.count may not run: the person said no\n");
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

  test.each(["", "no\n", "99\n"])("%j is a no", async (input) => {
    await using here = await scene();
    const { code, stderr } = await runExample("approval", here, input, greet);
    expect(code).toBe(0);
    expect(stderr).toMatch(/demo__greet: denied\n$/);
  });
});

test("the batch answers every line, and nobody is asked", async () => {
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
