import { expect, test } from "vitest";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { PolicyRequest, TakingAnswer } from "../../src/policy/decide.ts";
import { asked, type Desk, definition, desk, question, rule } from "../support/consent-desk.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave } = ToolConfirmationOutcome;
const read = asked("files", "read");
const resource = { serverName: "files", serverToolName: "file:///a", kind: "resource" } as const;
const changedRead = [definition("read", { description: "Reads and sends." }), definition("write")];

function questionTo(at: Desk, request: PolicyRequest, taking: TakingAnswer): ToolCallConfirmationDetails {
  return at.question(request, at.decide(request), asked(request.serverName, request.serverToolName), taking);
}

test("the key of a stored yes differs with the sender, arguments, kind of request, server definition and tool definition", async () => {
  await using at = await desk();
  await using other = await desk({ fingerprint: "another" });
  const { serverName, serverToolName } = read;
  const request = { serverName, serverToolName };
  const key = at.confirmationKey(request);
  expect(at.confirmationKey({ ...request, who: "model", kind: "tool", args: {} })).toBe(key);
  const different = [
    at.confirmationKey({ ...request, who: "user" }),
    at.confirmationKey({ ...request, client: "c" }),
    at.confirmationKey({ ...request, client: "d" }),
    at.confirmationKey({ ...request, args: { a: 1 } }),
    at.confirmationKey({ ...request, kind: "prompt" }),
    at.confirmationKey(resource),
    other.confirmationKey(request),
    other.confirmationKey(resource),
  ];
  expect(new Set([key, ...different]).size).toBe(1 + different.length);
  at.marks.see("files", changedRead);
  const whileChanged = at.confirmationKey(request);
  await at.accept(request);
  expect(new Set([key, whileChanged, at.confirmationKey(request)]).size).toBe(3);
});

test("when the user accepts a definition, earlier decisions about other tools are outdated too", async () => {
  await using at = await desk();
  const decision = at.decide(read);
  expect(at.isCurrent(decision, read)).toBe(true);
  await at.accept(asked("files", "write"));
  expect(at.isCurrent(decision, read)).toBe(false);
});

test.each([ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave])(
  "the user's answer %s covers later calls at once, and stores no yes for a single call",
  async (outcome) => {
    await using at = await desk();
    const keys: unknown[][] = [];
    const taking: TakingAnswer = { isOpen: () => true, onYes: (...given) => keys.push(given) };
    const confirmed = questionTo(at, read, taking).onConfirm(outcome);
    expect(at.verdict(read)).toMatchObject({ decision: "allow", rule: { origin: { source: "answer" } } });
    await confirmed;
    expect(keys).toEqual([[]]);
  },
);

test.each([ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave])(
  "the user's answer %s to a changed definition accepts that definition",
  async (outcome) => {
    await using at = await desk();
    at.marks.see("files", changedRead);
    const details = question(at.ask(read, {}));
    expect(details.outcomes).toContain(outcome);
    await details.onConfirm(outcome);
    expect(at.marks.changeOf(read)).toBeUndefined();
    expect(at.verdict(read).decision).toBe("allow");
  },
);

test("the user's answer for all resources of a server stores no yes for a single read", async () => {
  await using at = await desk();
  const keys: unknown[][] = [];
  const taking: TakingAnswer = { isOpen: () => true, onYes: (...given) => keys.push(given) };
  const once = questionTo(at, resource, taking);
  const always = questionTo(at, resource, taking);
  await once.onConfirm(ProceedOnce);
  expect(keys).toEqual([[at.confirmationKey(resource)]]);
  expect(at.verdict(resource).decision).toBe("ask_user");
  await always.onConfirm(ProceedAlwaysServer);
  expect(keys.slice(1)).toEqual([[]]);
  expect(at.verdict(resource)).toMatchObject({ decision: "allow", rule: { origin: { source: "answer" } } });
});

test("if the definition changes before the user answers, the question is outdated, and a yes has no effect", async () => {
  await using at = await desk();
  const calls: string[] = [];
  const taking: TakingAnswer = {
    isOpen: () => true,
    onYes: () => calls.push("yes"),
    onOutdated: () => calls.push("outdated"),
    onAnswer: (how) => calls.push(`answer ${how}`),
  };
  const details = questionTo(at, read, taking);
  const silent = questionTo(at, read, { isOpen: () => true, onYes: () => calls.push("yes") });
  expect(details.isOutdated?.()).toBe(false);
  at.marks.see("files", changedRead);
  expect(details.isOutdated?.()).toBe(true);
  await details.onConfirm(ProceedAlwaysServer);
  await silent.onConfirm(ProceedAlwaysServer);
  expect(calls).toEqual(["answer yes", "outdated"]);
  expect(at.verdict(read).decision).toBe("ask_user");
});

test("for a call with a changed definition, the question names the user's rule if the user typed the call, else the change", async () => {
  await using at = await desk({ rules: [rule("user", "ask_user", "files")] });
  at.marks.see("files", changedRead);
  const rules = (["user", "model"] as const).map((who) => {
    const request = { ...read, who };
    return questionTo(at, request, { isOpen: () => true, onYes: () => undefined }).rule;
  });
  expect(rules.map((shown) => [shown?.tier, shown?.text])).toEqual([
    ["user", "a rule in user.toml:1 asks about it"],
    ["default", "the rule for changed definitions asks about it"],
  ]);
});
