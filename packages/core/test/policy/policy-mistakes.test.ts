import { describe, expect, test } from "vitest";
import { limits } from "../../src/limits.ts";
import { read, said, told } from "../support/read-policy.ts";

const strictly = "the rule is applied in its strictest meaning";

describe("a mistake in a rule that would allow leaves it out; one that stops counts as strictly as it can be read; the others stay", () => {
  const other = '[[rule]]\nmcpName="ok"\ndecision="allow"\npriority=1\n';
  const start = '[[rule]]\nmcpName="a"\ntoolName="x"\npriority=5\n';
  test.each([
    [
      "toolNam='y'",
      "deny 5 a/x isDoubt :5",
      `8:1 "toolNam" is not a known key of a rule; … | Did you mean "toolName"?`,
    ],
    [
      "argPattern='y'",
      "deny 5 a/x argsPattern isDoubt :5",
      `8:1 "argPattern" is not a known key of a rule; … | Did you mean "argsPattern"?`,
    ],
    ["whatever=1", "deny 5 a/x isDoubt :5", `8:1 "whatever" is not a known key of a rule; …`],
    [
      "argsPattern='(?=x)'",
      "deny 5 a/x isDoubt :5",
      '8:1 "argsPattern" cannot be used: invalid or unsupported Perl syntax: `(?=`; …',
    ],
    ["argsPattern=1", "deny 5 a/x isDoubt :5", '8:1 "argsPattern" must be a string; …'],
    [
      "kind='resourse'",
      "deny 5 a/x resource isDoubt :5",
      `8:1 "kind" is "resourse", not one of tool, resource, prompt, sampling, skill, host; … | Did you mean "resource"?`,
    ],
    [
      "modes=['plam']",
      "deny 5 a/x isDoubt :5",
      '8:1 "modes" contains "plam"; modes are default, plan, yolo; … | Did you mean "plan"?',
    ],
    ["interactive='yes'", "deny 5 a/x isDoubt :5", '8:1 "interactive" must be true or false; …'],
    ["annotations=['readOnlyHint']", "deny 5 a/x isDoubt :5", '8:1 "annotations" must be a table, { name = value }; …'],
    [
      "annotations={a=[1]}",
      "deny 5 a/x isDoubt :5",
      '8:1 "annotations" may contain only strings, numbers, true and false; …',
    ],
    [
      "annotations={readOnlyHint=true,a=[1]}",
      "deny 5 a/x isDoubt :5",
      '8:1 "annotations" may contain only strings, numbers, true and false; …',
    ],
    [
      "annotations={readOnlyHint='true'}",
      "deny 5 a/x isDoubt :5",
      '8:1 "annotations" contains "readOnlyHint", whose value must be true or false; …',
    ],
    ["commandPrefix='git'", "deny 5 a/x isDoubt :5", '8:1 "commandPrefix" is not a known key of a rule; …'],
    ["denyMessage=''", "deny 5 a/x isDoubt :5", '8:1 "denyMessage" is empty; …'],
  ])("%s", async (line, rule, problem) => {
    for (const [decision, kept, effect] of [
      ["deny", [rule], strictly],
      ["allow", [], "the rule is ignored"],
    ] as const) {
      const found = await read(`${other}${start}${line}\ndecision="${decision}"\n`);
      expect(found.rules.map(told)).toEqual(["allow 1 ok/· :1", ...kept]);
      expect(said(found)).toEqual([`error ${problem.replace("8:", "9:").replace("…", effect)}`]);
    }
  });

  test.each([
    [
      "no priority",
      'mcpName="a"\ndecision="deny"',
      "deny 999 a/· isDoubt :1",
      '1:1 "priority" is missing: write a whole number from 0 to 999',
    ],
    [
      "too high a priority",
      'mcpName="a"\ndecision="deny"\npriority=1000',
      "deny 999 a/· isDoubt :1",
      '4:1 "priority" must be a whole number from 0 to 999',
    ],
    [
      "half a priority",
      'mcpName="a"\ndecision="ask_user"\npriority=1.5',
      "ask_user 999 a/· isDoubt :1",
      '4:1 "priority" must be a whole number from 0 to 999',
    ],
    [
      "no decision",
      'mcpName="a"\npriority=1',
      "deny 1 a/· isDoubt :1",
      '1:1 "decision" is missing: write allow, ask_user or deny',
    ],
    [
      "a short decision",
      'mcpName="a"\npriority=1\ndecision="ask"',
      "ask_user 1 a/· isDoubt :1",
      '4:1 "decision" is "ask", not one of allow, ask_user, deny',
    ],
    [
      "an unknown decision",
      'mcpName="a"\npriority=1\ndecision="block"',
      "deny 1 a/· isDoubt :1",
      '4:1 "decision" is "block", not one of allow, ask_user, deny',
    ],
    [
      "a server that is no text",
      'mcpName=["a"]\ntoolName="x"\npriority=1\ndecision="deny"',
      "deny 1 ·/x isDoubt :1",
      '2:1 "mcpName" must be a string',
    ],
    [
      "a tool that is no text",
      'mcpName="a"\ntoolName=7\npriority=1\ndecision="deny"',
      "deny 1 a/· isDoubt :1",
      '3:1 "toolName" must be a string',
    ],
    [
      "an empty list of tools",
      'mcpName="a"\ntoolName=[]\npriority=1\ndecision="deny"',
      "deny 1 a/· isDoubt :1",
      '3:1 "toolName" is an empty list',
    ],
    [
      "a misspelt server",
      'mcpname="a"\npriority=1\ndecision="deny"',
      "deny 1 a/· isDoubt :1",
      '2:1 "mcpname" is not a known key of a rule',
    ],
    [
      "a tool as long as a book",
      `mcpName="a"\ntoolName="${"x".repeat(limits.policyText + 1)}"\npriority=1\ndecision="deny"`,
      "deny 1 a/· isDoubt :1",
      '3:1 "toolName" is longer than 1000 characters',
    ],
  ])("%s", async (_, body, rule, problem) => {
    const found = await read(`[[rule]]\n${body}\n`);
    expect(found.rules.map(told)).toEqual([rule]);
    expect(said(found)[0]).toContain(`error ${problem}; ${strictly}`);
  });

  test("a decision that was meant to allow does not", async () => {
    const found = await read('[[rule]]\nmcpName="a"\ndecision="alow"\npriority=1');
    expect([found.rules, said(found)]).toEqual([
      [],
      ['error 3:1 "decision" is "alow", not one of allow, ask_user, deny; the rule is ignored | Did you mean "allow"?'],
    ]);
  });

  test.each(["[[rules]]", "[rule]", "[[Rule]]"])("%s", async (head) => {
    const name = head.replaceAll(/[[\]]/g, "");
    const body = (decision: string) => `${head}\nmcpName="a"\npriority=1\ndecision="${decision}"\n`;
    const problem = `error 1:1 "${name}" is not a list of rules: only its deny and ask_user rules count | Write [[rule]].`;
    const [denies, allows] = [await read(body("deny")), await read(body("allow"))];
    expect([denies.rules.map(told), said(denies)]).toEqual([["deny 1 a/· isDoubt :1"], [problem]]);
    expect([allows.rules, said(allows)]).toEqual([[], [problem]]);
  });
});

test("what is no rule at all may have been meant to deny: the file is in doubt, and its own rules stay", async () => {
  const kept = '[[rule]]\nmcpName="a"\ndecision="allow"\npriority=1\n';
  const found = await read(`rule = ["x"]\n[[deny]]\nmcpName="a"\n[[ask]]\n[other]\n[[safety_checker]]\n`);
  const meant = "may be meant to deny something, so every request needs confirmation";
  const stray = (name: string, at: string, how: string) =>
    `error ${at} "${name}" is not a known table of a policy file and ${meant} | ${how}`;
  expect(said(found)).toEqual([
    `error 1:9 an entry of "rule" is not a table and ${meant} | Write [[rule]].`,
    stray("deny", "2:1", 'Write [[rule]] with decision = "deny".'),
    stray("ask", "4:1", 'Write [[rule]] with decision = "ask_user".'),
    stray("other", "5:1", "Write rules as [[rule]]."),
  ]);
  for (const [tier, decision, own] of [
    ["administrator", "deny", ["allow 1 a/· :1"]],
    ["user", "ask_user", ["allow 1 a/· :1"]],
    ["workspace", "ask_user", []],
  ] as const) {
    const { state, rules } = await read(`${kept}[[deny]]\nmcpName="a"\n`, tier);
    expect({ state, rules: rules.map(told) }).toEqual({
      state: "broken",
      rules: [`${decision} 999 ·/· isDoubt denyMessage :5`, ...own],
    });
  }
});

test("a file with as many rules as are read is read", async () => {
  const found = await read('[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\n'.repeat(limits.policyRules));
  expect([found.state, found.rules.length, found.problems]).toEqual(["read", limits.policyRules, []]);
});

describe("a file that cannot be read", () => {
  const manyRules = '[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\n'.repeat(limits.policyRules + 1);
  test.each([
    ["with a slip in it", "[[rule]]\nmcpName == 1\n", "2:", "is not valid TOML: "],
    ["with a key twice", "a = 1\na = 2\n", "2:", "is not valid TOML: "],
    ["of brackets", `a = ${"[".repeat(50_000)}`, "1:", "is not valid TOML: "],
    ["of that size", `# ${"x".repeat(limits.policyBytes)}`, "1:1", "cannot be read: it is larger than"],
    ["with so many rules", manyRules, "1:1", `contains more than ${limits.policyRules} rules`],
  ])("%s stops more than it would have, never less", async (_, text, place, reason) => {
    for (const [tier, decision, effect] of [
      ["administrator", "deny", "every request is denied"],
      ["user", "ask_user", "every request needs confirmation"],
      ["workspace", "ask_user", "every request needs confirmation"],
    ] as const) {
      const found = await read(text, tier);
      expect(found.state).toBe("broken");
      expect(
        found.rules.map(({ tier: from, ...rule }) => [from, told({ tier: from, ...rule }).split(" :")[0]]),
      ).toEqual([[tier, `${decision} 999 ·/· isDoubt denyMessage`]]);
      expect(said(found)).toEqual([expect.stringMatching(`^error ${place}.*${found.file} ${reason}.*${effect}`)]);
    }
  });

  test("that lists and tables in it are nested without end does not matter", async () => {
    const found = await read(
      `[[rule]]\nmcpName="a"\npriority=1\ndecision="deny"\nmodes=${"[".repeat(2_000)}1${"]".repeat(2_000)}\n`,
    );
    expect(found.rules.map(told)).toEqual(["deny 1 a/· isDoubt :1"]);
  });
});
