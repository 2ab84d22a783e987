import type { ConversationInfo } from "@fairlead/core/conversations/list-conversations";
import { expect, test } from "vitest";
import { conversationLine, conversationsText } from "../../../src/output/reports/conversation-text.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const options = { home: "/home/me", now };

function info(given: Partial<ConversationInfo>): ConversationInfo {
  return {
    id: "a1",
    firstWords: "hello",
    startedAt: "2026-01-01T00:00:00Z",
    updatedAt: "2026-01-31T11:55:00Z",
    workspace: "/home/me/project",
    model: "m",
    turns: 3,
    calls: 2,
    bytes: 10,
    ...given,
  } as ConversationInfo;
}

test("the user sees a table of the conversations in the given order", () => {
  const conversations = [
    info({}),
    info({ id: "b\u001b", title: "T", calls: 11, updatedAt: "2026-01-28T11:00:00Z", workspace: "/srv" }),
  ];
  expect(conversationsText(conversations, options)).toBe(
    [
      "id  when           calls  where      what",
      "a1  5 minutes ago  2      ~/project  hello",
      "b␛  3 days ago     11     /srv       T",
    ].join("\n"),
  );
  expect(conversationsText([], options)).toBe("id  when  calls  where  what");
});

test.each<[given: Partial<ConversationInfo>, line: string]>([
  [{}, "hello (5 minutes ago, ~/project, 2 calls)"],
  [{ calls: 1 }, "hello (5 minutes ago, ~/project, 1 call)"],
  [{ title: "named" }, "named (5 minutes ago, ~/project, 2 calls)"],
  [{ firstWords: " a \n\n b\tc " }, "a b c (5 minutes ago, ~/project, 2 calls)"],
  [{ firstWords: "x".repeat(50) }, `${"x".repeat(50)} (5 minutes ago, ~/project, 2 calls)`],
  [{ firstWords: "x".repeat(51) }, `${"x".repeat(49)}… (5 minutes ago, ~/project, 2 calls)`],
  [{ workspace: "/home/me" }, "hello (5 minutes ago, ~, 2 calls)"],
  [{ updatedAt: "2026-01-31T12:00:00Z" }, "hello (less than a minute ago, ~/project, 2 calls)"],
])("the user chooses a conversation from one line: %j", (given, line) => {
  expect(conversationLine(info(given), options)).toBe(line);
});
