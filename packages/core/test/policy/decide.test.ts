import { describe, expect, test } from "vitest";
import { ConversationApprovals, createApprovalsOf } from "../../src/policy/conversation-approvals.ts";
import { Decisions, type PolicyRequest } from "../../src/policy/decide.ts";
import { exactName } from "../../src/policy/rules/name-pattern.ts";
import type { ApprovalMode, PolicyRule } from "../../src/policy/rules/rule.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { definitionDigest } from "../../src/server/tool-changes.ts";

const request: PolicyRequest = { serverName: "s", serverToolName: "t" };
const pay: CatalogTool = { name: "t", inputSchema: { type: "object" } };

/** Decides about one tool; everything that a decision depends on can be changed. */
function scene(mode: ApprovalMode = "default") {
  const answers = new ConversationApprovals();
  const approvalsOf = createApprovalsOf(answers);
  const now = {
    rules: [] as readonly PolicyRule[],
    policy: 1,
    configuration: 1,
    tool: pay as CatalogTool | undefined,
    isChanged: false,
    fingerprint: "f" as string | undefined,
    doubt: undefined as string | undefined,
    savedDigest: undefined as string | undefined,
  };
  const difference = () => [{ member: "description", after: "more" }];
  const approved = {
    problems: [],
    canSave: () => false,
    find: () =>
      now.savedDigest === undefined
        ? undefined
        : { server: "s", fingerprint: "f", tool: "t", digest: now.savedDigest, approvedAt: "" },
    all: () => [],
    save: async () => undefined,
    forgetOthers: async () => undefined,
  };
  const change = () =>
    now.isChanged ? { difference, ...(now.doubt !== undefined && { doubt: now.doubt }) } : undefined;
  const decide = new Decisions({
    accept: async () => {},
    acceptView: async () => {},
    policy: () => ({ version: now.policy, rules: now.rules, approved }),
    configurationVersion: () => now.configuration,
    approvals: answers,
    approvalsOf,
    tools: {
      toolOf: () => now.tool,
      toolsOf: () => (now.tool ? [now.tool] : []),
      changeOf: change,
      flagsOf: () => [],
      sandboxOf: () => undefined,
      promptChangeOf: change,
      skillOf: () => undefined,
      sharesName: () => false,
      isSkillLockedOut: () => false,
      skillChangeOf: () => undefined,
      toolsWithView: () => [],
      viewChangeOf: () => undefined,
      isLockedOut: () => false,
    },
    trustsAnnotations: () => false,
    identityOf: (server) => (now.fingerprint === undefined ? undefined : { server, fingerprint: now.fingerprint }),
    mode,
    interactive: true,
  });
  return Object.assign(decide, { answers, approvalsOf, now });
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

  test("a definition that was read again and says the same is no other one", () => {
    const at = scene();
    const decision = at.decide(request);
    at.now.tool = { ...pay };
    expect(at.isCurrent(decision, request)).toBe(true);
    at.now.tool = undefined;
    const without = at.decide(request);
    expect(at.isCurrent(without, request)).toBe(true);
    at.now.tool = pay;
    expect(at.isCurrent(without, request)).toBe(false);
  });

  test("an answer in a client's conversation changes decisions there, and one of the user's changes all", () => {
    const at = scene();
    const there = { ...request, conversation: "c" };
    const [own, other] = [at.decide(request), at.decide(there)];
    at.approvalsOf("c").allowTool("s", "t", at.approvalKeyOf(request) ?? "");
    expect([at.isCurrent(own, request), at.isCurrent(other, there)]).toEqual([true, false]);
    expect([at.decide(request).decision, at.decide(there).decision]).toEqual(["ask_user", "allow"]);
    const after = at.decide(there);
    at.answers.bump();
    expect([at.isCurrent(own, request), at.isCurrent(after, there)]).toEqual([false, false]);
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

test("a saved approval allows the definition that it was given for, and no other", () => {
  const at = scene();
  at.now.savedDigest = definitionDigest(pay);
  const pair = { server: expect.objectContaining({ text: "s" }), tool: expect.objectContaining({ text: "t" }) };
  expect(at.explain(request).decision).toEqual({
    decision: "allow",
    rule: { tier: "user", decision: "allow", priority: 0, ...pair, origin: { source: "approval" } },
  });
  at.now.savedDigest = "other";
  expect(at.decide(request).decision).toBe("ask_user");
});

test("reads of a server whose entry is unknown are asked about, and an answer about reads is told as one", () => {
  const at = scene();
  const read = { ...request, serverToolName: "note://one", kind: "resource" } as const;
  at.now.fingerprint = undefined;
  expect(at.decide(read).decision).toBe("ask_user");
  at.now.fingerprint = "f";
  at.answers.allowReads("s", "f");
  expect(at.decide(read)).toMatchObject({
    decision: "allow",
    rule: { tier: "conversation", kind: "resource", origin: { source: "answer" } },
  });
});

test("a decision is explained with every rule that matches and with the change of the definition", () => {
  const at = scene();
  const ask = { tier: "user", decision: "ask_user", priority: 0, origin: { source: "policy_file" } } as const;
  const forbid = { ...ask, tier: "workspace", decision: "deny", server: exactName("s") } as const;
  const elsewhere = { ...ask, server: exactName("other") } as const;
  at.now.rules = [elsewhere, forbid, ask];
  const fallback = expect.objectContaining({ origin: { source: "built_in", name: "tools" } });
  expect(at.explain(request)).toEqual({
    decision: { decision: "ask_user", rule: ask },
    matching: [ask, forbid, fallback],
    change: undefined,
  });
  Object.assign(at.now, { isChanged: true, doubt: "the disk is full" });
  const explained = at.explain(request);
  expect(explained).toMatchObject({
    decision: { decision: "ask_user", rule: { denyMessage: "the disk is full" }, over: ask },
    matching: [ask, forbid, fallback],
    change: { doubt: "the disk is full" },
  });
  expect(explained.change?.difference()).toEqual([{ member: "description", after: "more" }]);
});

test("what the user types is decided as in the default mode", () => {
  const at = scene("plan");
  const deny = { tier: "user", decision: "deny", priority: 0, origin: { source: "policy_file" } } as const;
  at.now.rules = [{ ...deny, modes: ["default"] }];
  expect(at.explain({ ...request, who: "user" }).decision).toEqual({ decision: "deny", rule: at.now.rules[0] });
  at.now.rules = [{ ...deny, modes: ["plan"] }];
  expect(at.explain({ ...request, who: "user" }).decision).toEqual({
    decision: "allow",
    rule: { tier: "default", decision: "allow", priority: 0, origin: { source: "built_in", name: "typed" } },
    over: expect.objectContaining({ origin: { source: "built_in", name: "tools" } }) as PolicyRule,
  });
});
