import { expect, test } from "vitest";
import { plainText } from "../../../src/tui/plain/plain-text.ts";
import { openDialog } from "../../../src/tui/state/dialog.ts";
import { dialogLines } from "../../../src/tui/view/dialogs/dialog-frame.ts";
import { markdownLines } from "../../../src/tui/view/markdown/markdown-lines.ts";
import { confirmation, questionsOf } from "../../support/tui/samples.ts";

const box = /[\u2500-\u257f▏]/u;
const room = { width: 60, height: 1000 };

test("no question has box drawing, and text of a server stands behind a bar", () => {
  for (const question of questionsOf("text")) {
    const lines = dialogLines(question, openDialog(question), { index: 1, total: 2 }, room).map(plainText);
    expect(lines.filter((line) => box.test(line))).toEqual([]);
  }
  const question = confirmation();
  const lines = dialogLines(question, openDialog(question), { index: 1, total: 1 }, room).map(plainText);
  expect(lines[0]).toBe("github: run create_issue?");
  expect(lines).toContain("  | Creates an issue.");
});

test("tables, rules and quotes have none either, and the text of a server keeps its own", () => {
  const lines = markdownLines("| a | b |\n|-|-|\n| 1 | 2 |\n\n---\n\n> said\n\nI draw─│╭", 60).map(plainText);
  expect(lines.filter((line) => box.test(line))).toEqual(["I draw─│╭"]);
  expect(lines).toContain("a | b");
  expect(lines).toContain("--+--");
  expect(lines).toContain("> said");
});
