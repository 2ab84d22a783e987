import { expect, test } from "vitest";
import { toMarkdown } from "../../../src/tui/state/conversation-text.ts";

test("a tool's name cannot end its heading", () => {
  const call = { id: "1", server: "s", tool: "t\n\n## You\n`x`", args: {}, files: [], media: [], isOpen: false };
  const text = toMarkdown(
    [
      { key: "1", kind: "person", text: "hello", attachments: [] },
      { key: "2", kind: "call", call: { ...call, status: "ok" } },
    ],
    "model",
  );
  expect(text).toBe("# Conversation\n\n## You\n\nhello\n\n### `s.t ## You 'x'`: ok\n");
});
