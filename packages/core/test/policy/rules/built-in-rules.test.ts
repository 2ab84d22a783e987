import { expect, test } from "vitest";
import { PolicyEngine } from "../../../src/policy/policy-engine.ts";
import { defaultRules, isChangedRule, isUnsavedRule } from "../../../src/policy/rules/built-in-rules.ts";
import type { CheckRequest, DecisionOutcome, PolicyRule } from "../../../src/policy/rules/rule.ts";
import { ruleText } from "../../../src/policy/rules/rule-text.ts";
import { request, rule } from "../../support/sample-rules.ts";

interface Situation {
  readonly request: Partial<CheckRequest>;
  /** The decision of the only rule that is not built in. Default: there is no such rule. */
  readonly user?: DecisionOutcome;
}

const readOnly = { annotations: { readOnlyHint: true }, trustsAnnotations: true } as const;
const unsaved = { isChanged: true, doubt: "the disk is full" } as const;

/** The built-in rule that decides about a tool call or another request in this situation. */
function ruleIn({ request: more, user }: Situation): PolicyRule {
  return new PolicyEngine({ rules: user === undefined ? [] : [rule("user", user)] }).check(request(more)).rule;
}

/** What happens, its members, the decision, and the text that the user reads. */
const situations: readonly (readonly [string, Situation, DecisionOutcome, string])[] = [
  ["a tool call", { request: {} }, "ask_user", "the default for tools asks about it"],
  ["a resource", { request: { kind: "resource" } }, "ask_user", "the default for resources asks about it"],
  ["a prompt", { request: { kind: "prompt" } }, "allow", "the default for prompts allows it"],
  ["sampling", { request: { kind: "sampling" } }, "ask_user", "the default for sampling asks about it"],
  ["a tool call in plan mode", { request: { mode: "plan" } }, "deny", "plan mode denies it"],
  [
    "an allowed read-only tool in plan mode",
    { request: { mode: "plan", ...readOnly }, user: "allow" },
    "ask_user",
    "plan mode asks about it",
  ],
  [
    "a changed definition",
    { request: { isChanged: true }, user: "allow" },
    "ask_user",
    "the rule for changed definitions asks about it",
  ],
  [
    "a changed definition without a terminal",
    { request: { isChanged: true, interactive: false }, user: "allow" },
    "deny",
    "the rule for changed definitions denies it: there is no terminal to ask on",
  ],
  [
    "a definition that may have changed",
    { request: unsaved, user: "allow" },
    "ask_user",
    "the rule for definitions that may have changed asks about it: the disk is full",
  ],
  [
    "a definition that may have changed, without a terminal",
    { request: { ...unsaved, interactive: false }, user: "allow" },
    "deny",
    "the rule for definitions that may have changed denies it: the disk is full",
  ],
  ["a tool call in yolo mode", { request: { mode: "yolo" } }, "allow", "yolo mode allows it"],
  [
    "a tool call without a terminal",
    { request: { interactive: false } },
    "deny",
    "the rule for runs without a terminal denies it",
  ],
];

test.each(situations)("%s: the user reads which built-in rule decides", (_, situation, decision, text) => {
  const decisive = ruleIn(situation);
  expect(ruleText(decisive)).toBe(text);
  expect(decisive).toMatchObject({ tier: "default", priority: 0, decision, origin: { source: "built_in" } });
});

test("each default rule is about one kind of request", () => {
  const kinds = Object.entries(defaultRules).map(([kind, { kind: ofRule }]) => [kind, ofRule]);
  expect(kinds).toEqual(["tool", "resource", "prompt", "sampling", "skill", "host"].map((kind) => [kind, kind]));
});

test("only the rules for definitions that have changed, or may have changed, are about a change", () => {
  const situationsWith = (isWanted: (one: PolicyRule) => boolean): readonly string[] =>
    situations.filter(([, situation]) => isWanted(ruleIn(situation))).map(([what]) => what);
  const doubtful = ["a definition that may have changed", "a definition that may have changed, without a terminal"];
  expect(situationsWith(isUnsavedRule)).toEqual(doubtful);
  expect(situationsWith(isChangedRule)).toEqual([
    "a changed definition",
    "a changed definition without a terminal",
    ...doubtful,
  ]);
  expect(isUnsavedRule(rule("user", "deny", { origin: { source: "policy_file", name: "unsaved" } }))).toBe(false);
});
