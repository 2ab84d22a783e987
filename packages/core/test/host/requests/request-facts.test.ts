import { expect, test } from "vitest";
import {
  type AnyRequest,
  cancelledRequest,
  carryKey,
  isAnsweredInAdvance,
  isChangedTool,
  mayDifferOnceConnected,
} from "../../../src/host/requests/request-facts.ts";
import type { CarriedDecision, PolicyRequest } from "../../../src/policy/confirmations.ts";
import { builtIn, defaultRules, unsavedRule } from "../../../src/policy/rules/built-in-rules.ts";
import type { PolicyRule } from "../../../src/policy/rules/rule.ts";

const decided = (rule: PolicyRule, decision: CarriedDecision["decision"] = rule.decision): CarriedDecision =>
  ({ decision, rule }) as CarriedDecision;
const asked = { serverName: "s", serverToolName: "t" } as PolicyRequest;
const prompt = { ...asked, kind: "prompt" } as const;
const changed = decided(builtIn.changed);
const usual = decided(defaultRules.tool);
const annotated = decided({ ...defaultRules.tool, annotations: new Map([["readOnlyHint", true]]) });

test("a changed tool is one about which a rule for changed definitions asks", () => {
  expect([changed, decided(unsavedRule("full", "ask_user"))].map((one) => isChangedTool(asked, one))).toEqual([
    true,
    true,
  ]);
  expect(isChangedTool({ ...asked, kind: "tool" }, changed)).toBe(true);
  expect(isChangedTool(prompt, changed)).toBe(false);
  expect([usual, decided(builtIn.changedUnseen)].map((one) => isChangedTool(asked, one))).toEqual([false, false]);
});

test("an answer in advance never counts for a changed tool; for a changed prompt it counts if the program cannot ask the user", () => {
  const request = (changes: Partial<AnyRequest>): AnyRequest => ({ ...asked, ...changes }) as AnyRequest;
  const confirm = (async () => {}) as unknown as NonNullable<AnyRequest["confirm"]>;
  const answers = (one: CarriedDecision, changes: Partial<AnyRequest>): boolean =>
    isAnsweredInAdvance(request(changes), one);
  expect([{}, { confirmed: false }, { confirmed: true }].map((one) => answers(usual, one))).toEqual([
    false,
    false,
    true,
  ]);
  expect(answers(usual, { confirmed: "in_advance", confirm })).toBe(true);
  expect(answers(changed, { confirmed: true })).toBe(false);
  expect(answers(changed, { confirmed: true, kind: "tool" })).toBe(false);
  expect(answers(changed, { confirmed: true, kind: "prompt" })).toBe(true);
  expect(answers(changed, { confirmed: true, kind: "prompt", confirm })).toBe(false);
  expect(answers(changed, { kind: "prompt" })).toBe(false);
});

test.each<[Partial<PolicyRequest>, string]>([
  [{}, "s.t was cancelled before it was sent"],
  [{ kind: "prompt" }, "t was cancelled before it was sent"],
  [{ kind: "sampling", serverToolName: "" }, 'a request to "s" was cancelled before it was sent'],
])("a cancelled request with %j is named", (changes, message) => {
  const error = cancelledRequest({ ...asked, ...changes }, AbortSignal.abort("enough"));
  expect(error).toMatchObject({ code: "cancelled", message, serverName: "s", cause: "enough" });
});

test("a decision may differ once the server is connected, if it depends on what the server says", () => {
  expect([changed, annotated, usual].map((one) => mayDifferOnceConnected(asked, one))).toEqual([true, true, false]);
  expect([changed, annotated, usual].map((one) => mayDifferOnceConnected(prompt, one))).toEqual([true, false, false]);
});

test("requests have one key if sender, kind, tool and arguments are the same", () => {
  const key = carryKey({ ...asked, args: { a: 1, b: [2] } });
  expect(carryKey({ ...asked, kind: "tool", args: { b: [2], a: 1 } })).toBe(key);
  expect(carryKey(asked)).toBe(carryKey({ ...asked, args: {} }));
  const others: readonly PolicyRequest[] = [
    { ...prompt, args: { a: 1, b: [2] } },
    { ...asked, args: { a: 1 } },
    { ...asked, serverName: "x", args: { a: 1, b: [2] } },
    { ...asked, serverToolName: "x", args: { a: 1, b: [2] } },
  ];
  expect(new Set([key, ...others.map(carryKey)]).size).toBe(others.length + 1);
});
