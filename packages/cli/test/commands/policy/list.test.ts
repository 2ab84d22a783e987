import { expect, test } from "vitest";
import { machine, projectFile } from "../../support/machine.ts";

const rule = (tool: string, decision: string, priority: number): string =>
  `[[rule]]\nmcpName = "demo"\n${tool}decision = "${decision}"\npriority = ${priority}\n`;

const approval = (tool: string): object => ({
  server: "demo",
  tool,
  digest: `${tool}-0123456789`,
  fingerprint: "f",
  approvedAt: "2026-01-31T08:30:05.123Z",
});

test("the user sees all rules, strongest group first, then by priority, then the stricter rule, and the approvals last", async () => {
  await using here = await machine({
    "etc/policies/all.toml":
      '[[rule]]\nmcpName = "demo"\ntoolName = ["greet", "wait"]\ndecision = "deny"\npriority = 1\n',
    "home/.gemini/policies/m.toml": [
      rule("", "allow", 3),
      rule('toolName = "gr*"\n', "ask_user", 3),
      rule('toolName = "greet"\n', "deny", 3),
      '[[rule]]\ntoolName = "one"\ndecision = "deny"\npriority = 9\n',
      '[[rule]]\ndecision = "deny"\npriority = 2\nmodes = ["plan"]\n',
    ].join(""),
    [projectFile]: {},
    "project/.gemini/policies/w.toml": rule('toolName = "count"\n', "deny", 7),
    "home/.fairlead/approvals.json": { version: 2, workspaces: {}, tools: [approval("greet"), approval("count")] },
  });
  const { code, stdout, stderr } = await here.run("policy", "list", "--utc", "--trust-workspace");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.replaceAll(here.path, "")).toBe(`administrator
  deny  demo.greet  1  /etc/policies/all.toml:1
  deny  demo.wait   1  /etc/policies/all.toml:1

you
  deny   *.one                                9  /home/.gemini/policies/m.toml:15
  deny   demo.greet                           3  /home/.gemini/policies/m.toml:10
  ask    demo.gr*                             3  /home/.gemini/policies/m.toml:5
  allow  everything of demo                   3  /home/.gemini/policies/m.toml:1
  deny   everything of any server, mode plan  2  /home/.gemini/policies/m.toml:19

this workspace (can only make rules stricter)
  deny  demo.count  7  /project/.gemini/policies/w.toml:1

built in
  ask    tools of any server
  ask    resources of any server
  ask    sampling of any server
  ask    skills of any server
  ask    hosts of any server
  allow  prompts of any server

your saved approvals
  demo.greet  approved 2026-01-31T08:30:05Z  greet-012345
  demo.count  approved 2026-01-31T08:30:05Z  count-012345
`);
  const document = JSON.parse((await here.run("policy", "list", "--json", "--trust-workspace")).stdout) as {
    rules: { tier: string; decision: string; priority: number }[];
    approvals: object[];
    files: { file: string; tier: string; state: string }[];
    problems: object[];
  };
  expect(document.rules.map(({ tier, decision, priority }) => `${tier} ${decision} ${priority}`)).toEqual([
    "administrator deny 1",
    "administrator deny 1",
    "user deny 9",
    "user deny 3",
    "user ask_user 3",
    "user allow 3",
    "user deny 2",
    "workspace deny 7",
    "default ask_user 0",
    "default ask_user 0",
    "default ask_user 0",
    "default ask_user 0",
    "default ask_user 0",
    "default allow 0",
  ]);
  expect(document).toMatchObject({ approvals: [approval("greet"), approval("count")], problems: [] });
});

test("the user who has no rules sees the built-in rules alone", async () => {
  await using here = await machine();
  expect(await here.run("policy", "list")).toEqual({
    code: 0,
    stdout: `built in
  ask    tools of any server
  ask    resources of any server
  ask    sampling of any server
  ask    skills of any server
  ask    hosts of any server
  allow  prompts of any server
`,
    stderr: "",
  });
});
