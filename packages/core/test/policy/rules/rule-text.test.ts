import { expect, test } from "vitest";
import { builtIn, defaultRules, unsavedRule } from "../../../src/policy/rules/built-in-rules.ts";
import { exactName } from "../../../src/policy/rules/name-pattern.ts";
import { ruleText } from "../../../src/policy/rules/rule-text.ts";

test("every built-in rule is told in words of its own", () => {
  const names = [...Object.values(defaultRules), ...Object.values(builtIn)].map(({ origin }) => origin.name);
  const told = [...new Set([...names, "typed"])].map((name) =>
    ruleText({
      tier: "default",
      decision: "allow",
      priority: 0,
      origin: { source: "built_in", ...(name && { name }) },
    }),
  );
  expect(told.length).toBeGreaterThan(8);
  expect(new Set(told).size).toBe(told.length);
  expect(told.filter((text) => text.startsWith("a built-in rule"))).toEqual([]);
});

test("whatever a rule comes from has a name", () => {
  const sources = [
    "policy_file",
    "settings",
    "permissions",
    "trust",
    "approval",
    "flag",
    "answer",
    "built_in",
  ] as const;
  const told = sources.map((source) => ruleText({ tier: "user", decision: "deny", priority: 0, origin: { source } }));
  // Settings and permissions are both settings to the reader.
  expect(new Set(told).size).toBe(sources.length - 1);
  expect(told.filter((text) => /undefined|^ /.test(text))).toEqual([]);
});

test("a rule without a name is called by its source, and one with a name by its name", () => {
  const text = (source: "flag" | "settings" | "permissions", name?: string): string =>
    ruleText({ tier: "user", decision: "deny", priority: 0, origin: { source, ...(name && { name }) } });
  expect([text("flag"), text("settings"), text("permissions")]).toEqual([
    "a flag denies it",
    "a setting denies it",
    "a setting denies it",
  ]);
  expect([text("flag", "--allow"), text("settings", "mcp.excluded")]).toEqual([
    "--allow denies it",
    "mcp.excluded denies it",
  ]);
});

test.each([
  ["policy_file", "a rule"],
  ["approval", "your saved approval"],
  ["answer", "your approval for this conversation"],
  ["trust", '"trust": true of ""'],
] as const)("a rule of the source %s is called %s", (source, words) => {
  const origin = { source, file: "/rules.toml" };
  const text = (more: object): string =>
    ruleText({ tier: "user", decision: "ask_user", priority: 0, origin: { ...origin, ...more } });
  expect([text({}), text({ line: 3 })]).toEqual([
    `${words} in /rules.toml asks about it`,
    `${words} in /rules.toml:3 asks about it`,
  ]);
});

test("a deny gives its reason, and so does the rule for definitions that may have changed", () => {
  const rule = { ...defaultRules.prompt, denyMessage: "because" };
  expect([
    ruleText(rule),
    ruleText({ ...rule, decision: "deny" }),
    ruleText(unsavedRule("no disk", "ask_user")),
  ]).toEqual([
    "the default for prompts allows it",
    "the default for prompts denies it: because",
    "the rule for definitions that may have changed asks about it: no disk",
  ]);
  expect([ruleText(defaultRules.sampling), ruleText(builtIn.headless)]).toEqual([
    "the default for sampling asks about it",
    "the rule for runs without a terminal denies it",
  ]);
});

test.each([
  [undefined, '"trust": true of "s" allows it'],
  ["trust", '"trust": true of "s" allows it'],
  ["another setting", "another setting allows it"],
])("the user reads a rule of the source trust with the name %s as: %s", (name, text) => {
  const origin = { source: "trust", ...(name !== undefined && { name }) } as const;
  expect(ruleText({ tier: "user", decision: "allow", priority: -1, server: exactName("s"), origin })).toBe(text);
});

test("a rule for a file that cannot be read says what is wrong with the file, whatever it decides", () => {
  const origin = { source: "policy_file", file: "/mine.toml", line: 2, name: "unreadable" } as const;
  for (const decision of ["ask_user", "deny"] as const)
    expect(
      ruleText({ tier: "user", decision, priority: 999, isDoubt: true, denyMessage: "the file is bad", origin }),
    ).toBe("/mine.toml:2: the file is bad");
});
