import { describe, expect, test } from "vitest";
import { read, said, told } from "../../support/read-policy.ts";

test("a whole rule is read, with its place", async () => {
  const { file, rules, problems, state } = await read(`# mine
[[rule]]
mcpName = "github"
toolName = "delete_*"
argsPattern = '"repo":"main'
annotations = { destructiveHint = true }
decision = "deny"
priority = 100
modes = ["default", "autoEdit", "yolo"]
interactive = false
denyMessage = "Ask Ann first."
`);
  const [rule] = rules;
  expect({ state, problems }).toEqual({ state: "read", problems: [] });
  expect(rules).toEqual([
    {
      tier: "user",
      decision: "deny",
      priority: 100,
      server: { text: "github", matches: expect.any(Function) },
      tool: { text: "delete_*", matches: expect.any(Function) },
      argsPattern: { text: '"repo":"main', matches: expect.any(Function) },
      annotations: new Map([["destructiveHint", true]]),
      modes: ["default", "yolo"],
      interactive: false,
      denyMessage: "Ask Ann first.",
      origin: { source: "policy_file", file, line: 2 },
    },
  ]);
  expect(rule?.argsPattern?.matches('{"repo":"mainline"}')).toBe(true);
  expect(rule?.argsPattern?.matches('{"repo":"other"}')).toBe(false);
});

describe("forms that mean the same", () => {
  test.each([
    [
      "a list of tools",
      '[[rule]]\nmcpName="a"\ntoolName=["x","y"]\ndecision="allow"\npriority=1',
      ["allow 1 a/x :1", "allow 1 a/y :1"],
    ],
    ["an inline list", 'rule = [{mcpName="a", decision="deny", priority=1}]', ["deny 1 a/· :1"]],
    ["a byte order mark", '\uFEFF[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1', ["deny 1 a/· :1"]],
    [
      "dotted annotations",
      '[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\nannotations.readOnlyHint=false',
      ["deny 1 a/· annotations :1"],
    ],
    [
      "a table of annotations",
      '[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\n[rule.annotations]\nreadOnlyHint=false',
      ["deny 1 a/· annotations :1"],
    ],
    [
      "Gemini CLI's own words",
      '[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\ntoolAnnotations={x=1}\ndeny_message="no"',
      ["deny 1 a/· annotations denyMessage :1"],
    ],
    ["any server", '[[rule]]\nmcpName="*"\ntoolName="x"\ndecision="allow"\npriority=1', ["allow 1 ·/x :1"]],
    [
      "no server, for a rule that stops",
      '[[rule]]\ntoolName="x"\ndecision="ask_user"\npriority=1',
      ["ask_user 1 ·/x :1"],
    ],
    ["no server, for all tools", '[[rule]]\ntoolName="*"\ndecision="allow"\npriority=1', ["allow 1 ·/* :1"]],
    ["nothing but a decision", '[[rule]]\ndecision="allow"\npriority=1', ["allow 1 ·/· :1"]],
    [
      "another kind",
      '[[rule]]\nkind="resource"\ntoolName="file:///*"\ndecision="allow"\npriority=1',
      ["allow 1 ·/file:///* resource :1"],
    ],
    [
      "a name like any other",
      '[[rule]]\nmcpName="__proto__"\ndecision="deny"\npriority=1\nannotations={__proto__=1}',
      ["deny 1 __proto__/· annotations :1"],
    ],
    [
      "joined names of a rule that stops",
      '[[rule]]\ntoolName=["mcp_a_b_c","github__x","mcp_*"]\ndecision="deny"\npriority=1',
      [
        "deny 1 ·/mcp_a_b_c :1",
        "deny 1 a/b_c :1",
        "deny 1 a_b/c :1",
        "deny 1 ·/github__x :1",
        "deny 1 github/x :1",
        "deny 1 ·/mcp_* :1",
        "deny 1 ·/* :1",
      ],
    ],
    ["a mode that is only Gemini CLI's", '[[rule]]\nmcpName="a"\ndecision="allow"\npriority=1\nmodes=["autoEdit"]', []],
    [
      "rules about a shell",
      '[[rule]]\ntoolName="run_shell_command"\ncommandPrefix="git"\ndecision="allow"\npriority=1\n[[safety_checker]]\nx=1',
      [],
    ],
    ["an empty file", "", []],
  ])("%s", async (_, text, expected) => {
    const found = await read(text);
    expect({ rules: found.rules.map(told), said: said(found) }).toEqual({ rules: expected, said: [] });
  });
});

test.each(["commandPrefix", "commandRegex", "allowRedirection", "allow_redirection", "subagent"])(
  "a rule with %s and no server is nothing to us",
  async (key) => {
    const found = await read(`[[rule]]\ntoolName="x"\n${key}="y"\ndecision="deny"\npriority=1`);
    expect([found.rules, said(found)]).toEqual([[], []]);
  },
);

test.each([
  ["the lowest priority", "priority=0", "deny 0 a/· :1"],
  ["the highest priority", "priority=999", "deny 999 a/· :1"],
  [
    "a tool's name as long as it may be",
    `priority=1\ntoolName="${"x".repeat(1000)}"`,
    `deny 1 a/${"x".repeat(1000)} :1`,
  ],
  ["every mode", 'priority=1\nmodes=["yolo","plan","default"]', "deny 1 a/· modes :1"],
])("%s is no mistake", async (_, lines, rule) => {
  const found = await read(`[[rule]]\nmcpName="a"\ndecision="deny"\n${lines}`);
  expect([found.rules.map(told), said(found)]).toEqual([[rule], []]);
});

test.each(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])(
  "%s is true or false",
  async (hint) => {
    const found = await read(`[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\nannotations={${hint}=1}`);
    expect(found.rules.map(told)).toEqual(["deny 1 a/· isDoubt :1"]);
    expect(said(found)).toEqual([expect.stringContaining(`"annotations" contains "${hint}"`)]);
  },
);

test("of several hints with another value the first is named", async () => {
  const annotations = "annotations={openWorldHint=1, readOnlyHint=1}";
  const found = await read(`[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\n${annotations}`);
  expect(said(found)).toEqual([expect.stringContaining('"annotations" contains "readOnlyHint"')]);
});

test("a joined name without a tool is a name like any other", async () => {
  const found = await read(
    '[[rule]]\ntoolName=["mcp_a_", "a__", "mcp_github", "xmcp_a_y"]\ndecision="deny"\npriority=1',
  );
  expect(found.rules.map(told)).toEqual([
    "deny 1 ·/mcp_a_ :1",
    "deny 1 ·/a__ :1",
    "deny 1 ·/mcp_github :1",
    "deny 1 ·/xmcp_a_y :1",
  ]);
});

test("an allow without a server is about Gemini CLI's own tools", async () => {
  const found = await read('[[rule]]\ntoolName=["read_file", "mcp_a_x"]\ndecision="allow"\npriority=1');
  const about = (tool: string) =>
    `warning 2:1 the rule allows "${tool}" but names no server: it applies to Gemini CLI's own tools only | Add mcpName = "…" to allow the tool of a server.`;
  expect([found.rules, said(found)]).toEqual([[], [about("read_file"), about("mcp_a_x")]]);
});

test("a workspace allows nothing", async () => {
  const found = await read(
    '[[rule]]\nmcpName="a"\ndecision="allow"\npriority=1\n[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1',
    "workspace",
  );
  expect(found.rules.map(told)).toEqual(["deny 1 a/· :5"]);
  expect(said(found)).toEqual([
    "warning 1:1 a workspace may only add restrictions: its allow rule is ignored | To use the rule, move it to your own policy files.",
  ]);
});

test("a pattern that would keep a backtracking engine busy for ever is matched at once", async () => {
  const { rules } = await read(
    `[[rule]]\nmcpName="a"\ndecision="deny"\npriority=1\nargsPattern='(("a+)+|(a|aa)+|(.*a){20})+\\$'\n`,
  );
  expect(rules[0]?.argsPattern?.matches(`{"x":"${"a".repeat(20_000)}!"}`)).toBe(false);
});
