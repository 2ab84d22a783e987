import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { readPage, runSteps, stepsOf } from "../support/page.ts";

const page = readPage("policy.md");

test("every command of docs/policy.md works as it stands, and prints what is shown", async () => {
  const steps = stepsOf("policy.md");
  expect(steps.length).toBeGreaterThan(12);
  await runSteps(steps);
});

test("its rules are rules", async () => {
  const [, toml = ""] = /```toml\n([\s\S]*?)```/.exec(page) ?? [];
  await using here = await machine({ "home/.gemini/policies/mine.toml": toml });
  const { stdout } = await here.run("policy", "list", "--json");
  const { rules, problems } = JSON.parse(stdout);
  expect(problems).toEqual([]);
  expect(rules.filter(({ tier }: { tier: string }) => tier === "user")).toMatchObject([
    { server: "github", tool: "delete_*", decision: "deny", denyMessage: "Releases are made by CI." },
    { server: "github", tool: "merge_pull_request", decision: "deny" },
    { server: "files", tool: "write_file", decision: "allow", argsPattern: '^\\{"path":"/tmp/[\\w-]+\\.txt"\\}$' },
  ]);
});

test.each(["explain", "allow", "ask", "deny"])("every example of fairlead policy %s --help works", async (verb) => {
  await using here = await machine();
  const { stdout } = await here.run("policy", verb, "--help");
  const [, examples = ""] = stdout.split("Examples:\n");
  // An example with --team asks the database of a team; packages/team tests it with one.
  const lines = examples.split("\n").filter((line) => line.includes("fairlead") && !line.includes("--team"));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    const words = [...line.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    expect(await here.run(...words.slice(1)), line).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
  }
});
