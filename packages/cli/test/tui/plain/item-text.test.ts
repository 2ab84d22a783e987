import { expect, test } from "vitest";
import { itemText } from "../../../src/tui/plain/plain-text.ts";
import type { TranscriptItem } from "../../../src/tui/state/transcript.ts";
import { call, inTurn } from "../../support/tui/app-state.ts";

test.each<[TranscriptItem, string]>([
  [
    { key: "item-1", kind: "answer", text: "> said\n\n| a | b |\n|-|-|\n| 1 | 2 |", isDone: true },
    "> said\n\na | b\n--+--\n1 | 2",
  ],
  [{ key: "item-1", kind: "note", tone: "info", text: "> said" }, "> said"],
])("%j is printed without box drawing", (item, text) => {
  expect(itemText(item, 60)).toBe(text);
});

test("a running call is printed without the time that it has taken", () => {
  const item = inTurn(call("a", "running", { args: { text: "hi" } })).items.at(-1) ?? expect.fail("no item");
  expect(itemText(item, 60)).toBe("⠋ s.echo text=hi running");
});
