import { describe, expect, test } from "vitest";
import type { CatalogTool } from "../../src/discover/catalog.ts";
import { createConversationApprovals } from "../../src/policy/conversation-approvals.ts";
import { createDecide, type PolicyRequest } from "../../src/policy/decide.ts";
import type { PolicyRule } from "../../src/policy/rules/rule.ts";

const request: PolicyRequest = { serverName: "s", serverToolName: "t" };
const pay: CatalogTool = { name: "t", inputSchema: { type: "object" } };

/** Decides about one tool; everything that a decision depends on can be changed. */
function scene() {
  const answers = createConversationApprovals();
  const now = {
    rules: [] as readonly PolicyRule[],
    policy: 1,
    configuration: 1,
    tool: pay as CatalogTool | undefined,
    isChanged: false,
    fingerprint: "f" as string | undefined,
  };
  const approved = {
    problems: [],
    canSave: () => false,
    find: () => undefined,
    all: () => [],
    save: async () => undefined,
    forgetOthers: async () => undefined,
  };
  const change = () => (now.isChanged ? { difference: () => [] } : undefined);
  const decide = createDecide({
    policy: () => ({ version: now.policy, rules: now.rules, approved }),
    configurationVersion: () => now.configuration,
    approvals: answers,
    tools: {
      toolOf: () => now.tool,
      toolsOf: () => (now.tool ? [now.tool] : []),
      changeOf: change,
      promptChangeOf: change,
      isLockedOut: () => false,
    },
    trustsAnnotations: () => false,
    identityOf: (server) => (now.fingerprint === undefined ? undefined : { server, fingerprint: now.fingerprint }),
    mode: "default",
    interactive: true,
  });
  return { ...decide, answers, now };
}

describe("a decision holds as long as nothing that it depends on changes", () => {
  test.each<[string, (at: ReturnType<typeof scene>) => void]>([
    ["the rules", ({ now }) => Object.assign(now, { policy: 2 })],
    ["an answer", ({ answers }) => answers.allowTool("s", "other", "d")],
    ["an approval that is kept elsewhere", ({ answers }) => answers.bump()],
    ["the configuration", ({ now }) => Object.assign(now, { configuration: 2 })],
    ["the definition", ({ now }) => Object.assign(now, { tool: { ...pay, description: "more" } })],
    ["the definition, which is gone", ({ now }) => Object.assign(now, { tool: undefined })],
    ["whether the definition is the accepted one", ({ now }) => Object.assign(now, { isChanged: true })],
  ])("%s", (_, change) => {
    const at = scene();
    const decision = at.decide(request);
    expect([decision.decision, at.isCurrent(decision, request)]).toEqual(["ask_user", true]);
    change(at);
    expect(at.isCurrent(decision, request)).toBe(false);
    expect(at.isCurrent(at.decide(request), request)).toBe(true);
  });

  test("rules that were read again are the ones that count", () => {
    const at = scene();
    expect(at.decide(request).decision).toBe("ask_user");
    at.now.rules = [{ tier: "user", decision: "deny", priority: 0, origin: { source: "policy_file" } }];
    expect(at.decide(request).decision).toBe("deny");
  });

  test("what a tool has become is nothing to resources and prompts of that name", () => {
    const at = scene();
    for (const kind of ["resource", "prompt", "sampling"] as const) {
      const decision = at.decide({ ...request, kind });
      at.now.tool = { ...pay, description: kind };
      expect([kind, decision.inputs.definition, at.isCurrent(decision, { ...request, kind })]).toEqual([
        kind,
        undefined,
        true,
      ]);
    }
    at.now.isChanged = true;
    const changes = (["tool", "resource", "prompt", "sampling"] as const).map(
      (kind) => at.decide({ ...request, kind }).inputs.isChanged,
    );
    expect(changes).toEqual([true, false, true, false]);
  });
});

test("an approval is bound to the server's entry and to the definition, and to nothing while either is unknown", () => {
  const at = scene();
  const seal = at.approvalKeyOf(request);
  expect(seal).toBeDefined();
  at.now.fingerprint = "g";
  expect(at.approvalKeyOf(request)).not.toBe(seal);
  at.now.fingerprint = undefined;
  expect(at.approvalKeyOf(request)).toBeUndefined();
  at.now.fingerprint = "f";
  at.now.tool = { ...pay, description: "more" };
  expect(at.approvalKeyOf(request)).not.toBe(seal);
  at.now.tool = undefined;
  expect(at.approvalKeyOf(request)).toBeUndefined();
  at.now.tool = pay;
  at.answers.allowTool("s", "t", seal ?? "");
  expect(at.decide(request)).toMatchObject({ decision: "allow", rule: { tier: "conversation" } });
  at.now.fingerprint = "g";
  expect(at.decide(request).decision).toBe("ask_user");
});
