import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readPolicyFile } from "../../../src/policy/rules/policy-file.ts";
import { read, said, told } from "../../support/read-policy.ts";

test("readPolicyFile returns undefined for a file that does not exist", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "gone.toml");
  expect(await readPolicyFile(file, { tier: "user", servers: [] })).toBeUndefined();
});

test.each([
  ["administrator", "system", "deny", "every request is denied"],
  ["user", "user", "ask_user", "every request needs confirmation"],
  ["workspace", "workspace", "ask_user", "every request needs confirmation"],
] as const)(
  "an invalid policy file of the %s is a problem of the scope %s, and stands for a rule with the decision %s",
  async (...row) => {
    const [tier, scope, decision, effect] = row;
    const { file, state, rules, problems } = await read("[[rule]]\na = ]", tier);
    const next = `Correct ${file}. Until then its rules are unknown, so ${effect}.`;
    const message = `${file} is not valid TOML: Unexpected token`;
    expect(state).toBe("broken");
    expect(rules).toEqual([
      {
        tier,
        decision,
        priority: 999,
        isDoubt: true,
        denyMessage: `the file is not valid TOML: Unexpected token, so ${effect}`,
        origin: { source: "policy_file", file, line: 2, name: "unreadable" },
      },
    ]);
    const origin = { scope, file, line: 2, column: 5 };
    expect(problems).toEqual([{ severity: "error", code: "settings_invalid", message, origin, next }]);
  },
);

test("`client` of a rule is a pattern for the names of the gateway's clients", async () => {
  const { rules, problems } = await read('[[rule]]\nmcpName="a"\nclient="code*"\ndecision="deny"\npriority=1');
  expect(problems).toEqual([]);
  expect(rules.map(told)).toEqual(["deny 1 a/· client :1"]);
  expect(["codex", "cursor"].map((client) => rules[0]?.client?.matches(client))).toEqual([true, false]);
});

test("the user reads all mistakes of a rule, from the first to the last", async () => {
  const found = await read('[[rule]]\nfirst=1\nsecond=2\nmcpName="a"\ndecision="deny"\npriority=1');
  const end = "is not a known key of a rule; the rule is applied in its strictest meaning";
  expect(said(found)).toEqual([`error 2:1 "first" ${end}`, `error 3:1 "second" ${end}`]);
  expect(found.problems.map(({ code }) => code)).toEqual(["settings_invalid", "settings_invalid"]);
});

test("the user reads how to write a rule instead of a table that is named after a decision", async () => {
  const found = await read("[[allow]]\nx=1\n[[ask]]\nx=1\n[[deny]]\nx=1\n[[other]]\nx=1");
  const problem = "is not a known table of a policy file and may be meant to deny something";
  const lines = [
    ["allow", 'Write [[rule]] with decision = "allow".'],
    ["ask", 'Write [[rule]] with decision = "ask_user".'],
    ["deny", 'Write [[rule]] with decision = "deny".'],
    ["other", "Write rules as [[rule]]."],
  ].map(([name, how]) => [`"${name}" ${problem}, so every request needs confirmation`, how]);
  expect(found.problems.map(({ message, next }) => [message, next])).toEqual(lines);
  expect(found.rules.map(({ denyMessage }) => denyMessage)).toEqual(lines.map((line) => line.join(". ")));
});

test("a decision that is only the start of a name suggests the first decision that begins with it; an allow rule is ignored", async () => {
  const found = await read('[[rule]]\nmcpName="a"\ndecision="a"\npriority=1');
  expect(found.rules).toEqual([]);
  expect(said(found)).toEqual([
    'error 3:1 "decision" is "a", not one of allow, ask_user, deny; the rule is ignored | Did you mean "allow"?',
  ]);
});
