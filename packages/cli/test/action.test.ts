/** The GitHub Action: its steps, run by bash as a runner runs them, against projects with servers. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Machine, machine, projectFile } from "./support/machine.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as Action;

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

interface Step {
  readonly name: string;
  readonly id?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly run: string;
}

interface Run {
  readonly code: number;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Runs the action's steps until one fails. */
async function runAction(here: Machine, given: Readonly<Record<string, string>>): Promise<Run> {
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default]);
  const values: Record<string, string> = {};
  for (const [name, value] of [...defaults, ...Object.entries(given)]) values[`inputs.${name}`] = String(value);
  /** Only what the action uses: names, and comparisons with a text. */
  const filledIn = (text: string): string =>
    text.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, name: string) => values[name] ?? "");
  const holds = (condition = "${{ inputs.folder != '' }}"): boolean => {
    const [, name = "", operator, text] = /^\$\{\{ (\S+) (==|!=) '([^']*)' \}\}$/.exec(condition) ?? [];
    return (values[name] === text) === (operator === "==");
  };
  const runner = join(here.path, "runner");
  await mkdir(runner);
  const [summary, output] = [join(runner, "summary"), join(runner, "output")];
  await writeFile(summary, "");
  let [code, log] = [0, ""];
  for (const { id, env = {}, shell, run, ...step } of action.runs.steps) {
    if (!holds(step.if)) continue;
    expect(shell).toBe("bash");
    await writeFile(output, "");
    const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filledIn(value)]));
    const runners = {
      GITHUB_ACTION_PATH: root,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: output,
      RUNNER_TEMP: runner,
    };
    const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", run], {
      cwd: here.project,
      env: { ...here.env, ...runners, ...own },
      encoding: "utf8",
    });
    log += stdout + stderr;
    for (const line of (await readFile(output, "utf8")).split("\n").filter(Boolean)) {
      const at = line.indexOf("=");
      values[`steps.${id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
    code = status ?? 1;
    if (code !== 0) break;
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, filledIn(value)]);
  return {
    code,
    log,
    summary: await readFile(summary, "utf8"),
    outputs: Object.fromEntries(outputs) as Run["outputs"],
  };
}

const settings = (name: string) => ({ mcpServers: { [name]: stdioServer("well-behaved") } });
const checks = (text: string): string =>
  `server: demo\nchecks:\n  - name: greets\n    call: greet\n    arguments: { name: Ada }\n    expect: { text: ${JSON.stringify(text)} }\n`;

describe("the GitHub Action", () => {
  test("passes if the servers are as locked and the checks hold, and says so in the summary", async () => {
    await using here = await machine({
      [projectFile]: settings("files"),
      "project/checks.yaml": checks("Hello, Ada!"),
    });
    expect((await here.run("lock", "--trust-workspace")).code).toBe(0);
    const { code, summary, outputs } = await runAction(here, { checks: "checks.yaml\n" });
    expect({ code, outputs }).toEqual({
      code: 0,
      outputs: { lock: "0", checks: "0", junit: "./fairlead-junit.xml" },
    });
    expect(summary).toMatch(/^### MCP servers: lock file\n\n {4}.*files/);
    expect(summary).toMatch(/^### MCP servers: checks\n\n {4}.*\n {4}checks[.]yaml\n {6}✓ greets/m);
    expect(await readFile(join(here.project, "fairlead-junit.xml"), "utf8")).toContain("<testsuite");
  });

  test("fails if a server differs from the lock file, and then starts none for the checks", async () => {
    await using here = await machine({
      [projectFile]: settings("files"),
      "project/checks.yaml": checks("Hello, Ada!"),
    });
    expect((await here.run("lock", "--trust-workspace")).code).toBe(0);
    await here.write(projectFile, settings("other"));
    const { code, summary, outputs } = await runAction(here, { checks: "checks.yaml" });
    expect(code).not.toBe(0);
    expect(outputs).toEqual({ lock: String(code), checks: "", junit: "" });
    expect(summary).toMatch(/^ {4}.*other/m);
  });

  test("fails if a check does not hold, with the results in the summary and in the JUnit file", async () => {
    await using here = await machine({ "project/checks.yaml": checks("Hello, Bob!") });
    const { code, summary, outputs } = await runAction(here, { lock: "false", checks: "checks.yaml" });
    expect(code).toBe(1);
    expect(outputs).toEqual({ lock: "", checks: "1", junit: "./fairlead-junit.xml" });
    expect(summary).toMatch(/^ {6}✗ greets/m);
  });

  test("takes an input as a value and never as part of a script, and text of servers as no command", async () => {
    await using here = await machine({});
    const { code, log, outputs } = await runAction(here, {
      lock: "true",
      checks: '"; touch hacked; echo "$(touch hacked)',
    });
    expect(code).toBe(2);
    expect(outputs["junit"]).toBe("");
    const [, token = "", printed] = /::stop-commands::(\S+)\n([\s\S]*?)::\1::\n/.exec(log) ?? [];
    expect(token).toMatch(/^[0-9a-f-]{36}$/);
    expect(printed).toContain("Nothing to verify");
    await expect(readFile(join(here.project, "hacked"))).rejects.toThrow("ENOENT");
    expect(action.runs.steps.filter(({ run }) => run.includes("${{"))).toEqual([]);
  });
});
