import { expect, test } from "vitest";
import { ConversationApprovals, createApprovalsOf } from "../../src/policy/conversation-approvals.ts";

test("an answer is for that tool of that server, as it was seen", () => {
  const answers = new ConversationApprovals();
  answers.allowTool("a", "t", "d1");
  answers.allowTool("a", "u", "d2");
  expect(answers.allows("a", "t", "d1")).toBe(true);
  expect(answers.allows("a", "u", "d2")).toBe(true);
  expect([answers.allows("a", "t", "d2"), answers.allows("b", "t", "d1"), answers.allows("a", "v", "d1")]).toEqual([
    false,
    false,
    false,
  ]);
  answers.allowTool("a", "t", "d3");
  expect([answers.allows("a", "t", "d1"), answers.allows("a", "t", "d3")]).toEqual([false, true]);
});

test("an answer for a whole server is for the tools that it has, and makes others new", () => {
  const answers = new ConversationApprovals();
  expect(answers.isNewOfWhole("a", "t")).toBe(false);
  answers.allowServer("a", new Map([["t", "d1"]]));
  expect([answers.allows("a", "t", "d1"), answers.allows("a", "t", "d2"), answers.allows("a", "u", "d1")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([answers.isNewOfWhole("a", "t"), answers.isNewOfWhole("a", "u"), answers.isNewOfWhole("b", "u")]).toEqual([
    false,
    true,
    false,
  ]);
  answers.notNew("a", "u");
  answers.notNew("b", "u");
  expect([answers.isNewOfWhole("a", "u"), answers.isNewOfWhole("b", "x")]).toEqual([false, false]);
  // Given again, it forgets nothing of what was not new.
  answers.allowServer("a", new Map([["v", "d4"]]));
  expect(["t", "u", "v", "w"].map((tool) => answers.isNewOfWhole("a", tool))).toEqual([false, false, false, true]);
});

test("an answer for reading is for that server, as its entry stands", () => {
  const answers = new ConversationApprovals();
  expect(answers.allowsReads("a", "f1")).toBe(false);
  answers.allowReads("a", "f1");
  expect([answers.allowsReads("a", "f1"), answers.allowsReads("a", "f2"), answers.allowsReads("b", "f1")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("what was given is told in order and can be restored, each approval once", () => {
  const answers = new ConversationApprovals();
  answers.allowTool("a", "__proto__", "d1");
  answers.allowServer("a", new Map([["t", "d2"]]));
  answers.allowReads("b", "f1");
  expect(answers.given()).toEqual([
    { kind: "tools", server: "a", keys: Object.fromEntries([["__proto__", "d1"]]) },
    { kind: "server", server: "a", keys: { t: "d2" } },
    { kind: "reads", server: "b", fingerprint: "f1" },
  ]);
  const again = new ConversationApprovals();
  for (const approval of [...answers.given(), ...answers.given()]) again.restore(approval);
  expect([again.given(), again.version()]).toEqual([answers.given(), 3]);
  expect([again.allows("a", "__proto__", "d1"), again.allows("a", "t", "d2"), again.isNewOfWhole("a", "u")]).toEqual([
    true,
    true,
    true,
  ]);
  expect([again.allowsReads("b", "f1"), again.has("a", "t"), again.has("a", "u"), again.has("b", "t")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("every change makes the version greater by one", () => {
  const answers = new ConversationApprovals();
  const versions = [answers.version()];
  for (const change of [() => answers.bump(), () => answers.allowReads("a", "f"), () => answers.notNew("a", "t")]) {
    change();
    versions.push(answers.version());
  }
  expect(versions).toEqual([0, 1, 2, 2]);
});

test("each conversation of a client has its own approvals, and the oldest of more than 1000 loses them", () => {
  const own = new ConversationApprovals();
  const approvalsOf = createApprovalsOf(own);
  expect(approvalsOf(undefined)).toBe(own);
  const [first, second] = [approvalsOf("0"), approvalsOf("1")];
  expect(second).not.toBe(first);
  for (let at = 2; at < 1000; at += 1) approvalsOf(String(at));
  expect([approvalsOf("0") === first, approvalsOf("1") === second]).toEqual([true, true]);
  approvalsOf("1000");
  expect([approvalsOf("1") === second, approvalsOf("0") === first]).toEqual([true, false]);
});
