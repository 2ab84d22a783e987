import { expect, test } from "vitest";
import { createConversationApprovals } from "../../src/policy/conversation-approvals.ts";

test("an answer is for that tool of that server, as it was seen", () => {
  const answers = createConversationApprovals();
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
  const answers = createConversationApprovals();
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
  const answers = createConversationApprovals();
  expect(answers.allowsReads("a", "f1")).toBe(false);
  answers.allowReads("a", "f1");
  expect([answers.allowsReads("a", "f1"), answers.allowsReads("a", "f2"), answers.allowsReads("b", "f1")]).toEqual([
    true,
    false,
    false,
  ]);
});
