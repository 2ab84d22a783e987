import { expect, test } from "vitest";
import {
  builtIn,
  defaultRules,
  isChangedRule,
  isUnsavedRule,
  unsavedRule,
} from "../../../src/policy/rules/built-in-rules.ts";
import type { PolicyRule } from "../../../src/policy/rules/rule.ts";
import { ruleText } from "../../../src/policy/rules/rule-text.ts";

/** A built-in rule, its decision, its name, its text for users, and its other members. */
const rows: readonly (readonly [PolicyRule, PolicyRule["decision"], string, string, Partial<PolicyRule>])[] = [
  [defaultRules.tool, "ask_user", "tools", "the default for tools asks about it", { kind: "tool" }],
  [defaultRules.resource, "ask_user", "resources", "the default for resources asks about it", { kind: "resource" }],
  [defaultRules.prompt, "allow", "prompts", "the default for prompts allows it", { kind: "prompt" }],
  [defaultRules.sampling, "ask_user", "sampling", "the default for sampling asks about it", { kind: "sampling" }],
  [builtIn.plan, "deny", "plan", "plan mode denies it", {}],
  [builtIn.planAsks, "ask_user", "plan", "plan mode asks about it", {}],
  [builtIn.changed, "ask_user", "changed", "the rule for changed definitions asks about it", {}],
  [
    builtIn.changedUnseen,
    "deny",
    "changed",
    "the rule for changed definitions denies it: there is no terminal to ask on",
    { denyMessage: "there is no terminal to ask on" },
  ],
  [builtIn.yolo, "allow", "yolo", "yolo mode allows it", {}],
  [builtIn.headless, "deny", "headless", "the rule for runs without a terminal denies it", {}],
  [
    unsavedRule("the disk is full", "deny"),
    "deny",
    "unsaved",
    "the rule for definitions that may have changed denies it: the disk is full",
    { denyMessage: "the disk is full" },
  ],
];

test.each(rows)("the user reads which built-in rule decided: row %#", (rule, decision, name, text, more) => {
  const origin = { source: "built_in", name };
  expect(rule).toEqual({ tier: "default", decision, priority: 0, origin, ...more });
  expect(ruleText(rule)).toBe(text);
});

test("only the rules for changed definitions and for unsaved definitions are about a change", () => {
  const namesOf = (isWanted: (rule: PolicyRule) => boolean): readonly string[] =>
    rows.filter(([rule]) => isWanted(rule)).map(([, decision, name]) => `${name} ${decision}`);
  expect(namesOf(isChangedRule)).toEqual(["changed ask_user", "changed deny", "unsaved deny"]);
  expect(namesOf(isUnsavedRule)).toEqual(["unsaved deny"]);
  const [ofFile] = rows.map(([rule]) => ({ ...rule, origin: { source: "policy_file", name: "unsaved" } as const }));
  expect(ofFile && isUnsavedRule(ofFile)).toBe(false);
});
