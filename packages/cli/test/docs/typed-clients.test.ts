import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Machine, machine } from "../support/machine.ts";
import { readPage, shellWords, stepsOf } from "../support/page.ts";
import { linkPackages, typeCheck } from "../support/type-check.ts";

const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readPage("typed-clients.md")) ?? [];
const steps = stepsOf("typed-clients.md");
const run = promisify(execFile);

let here: Machine;
/** What each command of the page printed. The commands write the files that all tests use. */
const printed: string[] = [];
beforeAll(async () => {
  here = await machine();
  await linkPackages(here);
  for (const { line } of steps) printed.push(await shown(line));
});
afterAll(() => here[Symbol.asyncDispose]());

async function shown(line: string): Promise<string> {
  if (line.startsWith("fairlead ")) {
    const { stdout, stderr } = await here.run(...shellWords(line));
    return `${stdout}${stderr}`;
  }
  const [, ...words] = line.split(" ");
  return (await run(process.execPath, words, { cwd: here.project, env: here.env })).stdout;
}

describe("docs/typed-clients.md", () => {
  test("every command works as it stands, and prints what is shown", () => {
    expect(steps).toHaveLength(5);
    for (const [at, step] of steps.entries()) expect(printed[at], step.line).toBe(`${step.shown.join("\n")}\n`);
  });

  test("its program type-checks with the generated module", async () => {
    await here.write("project/example.ts", example);
    expect(await typeCheck(here, "project/example.ts")).toBe("");
  });
});

describe("the generated command", () => {
  const node = (...words: readonly string[]) =>
    run(process.execPath, [join(here.project, "demo.mjs"), ...words], { cwd: here.project, env: here.env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    );

  test("ends with the exit codes of the errors, and says what to do next", async () => {
    const [unknown, flag, wrong, failed] = await Promise.all([
      node("nothing"),
      node("greet", "--nam", "Ada"),
      node("count", "--to", "many"),
      node("fail", "--reason", "enough", "--json"),
    ]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("next: demo.mjs --help") });
    expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining("next: demo.mjs greet --help") });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"to" must be an integer') });
    expect(failed).toMatchObject({ code: 7, stderr: "" });
    const document = JSON.parse(failed.stdout) as object;
    expect(document).toMatchObject({ schemaVersion: 1, ok: false, tool: "fail", error: { code: "tool_error" } });
  });

  test("takes flags, --args and --json", async () => {
    const { code, stdout } = await node("statistics", "--args", '{"text": "one"}', "--text", "one two", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, server: "demo", structuredContent: { words: 2 } });
  });
});
