import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { expect, test } from "vitest";
import { isTypedCall, looksLikeCall } from "../../../src/tui/input/call-words.ts";

const tools: readonly ConversationTool[] = ["read", "write"].map((serverToolName) => ({
  name: `files_${serverToolName}`,
  server: "files",
  serverToolName,
  description: "",
  enabled: true,
}));

test.each([
  ["files.read", true],
  ["files.read path=a.txt", true],
  ["files.read path=a.txt path=b.txt", true],
  ["files.read path:=[1]", true],
  ['files.read path="a b" x=', true],
  ["files.read path=a.txt please", false],
  ["files.read please path=a.txt", false],
  ["files.read =a", false],
  ["read path=a.txt", false],
  ["path=a", false],
  ["", false],
  ['files.read(path: "a")', true],
  ["files.read()", true],
  ["files.read(\n)", true],
  ["read()", false],
  ["files.read() now", false],
  ["see files.read()", false],
  ['files.read {"path":"a"}', true],
  ['files.read {"path":\n"a"}', true],
  ["files.read {}", true],
  ['read {"path":"a"}', false],
  ["files.read {path}", false],
  ['files.read {"path":"a"} now', false],
])("%j looks like a call: %j", (line, isCall) => {
  expect(looksLikeCall(line)).toBe(isCall);
});

test.each([
  ["files.read path=a.txt", true],
  ["  files.read path=a.txt\n\n  files.write path=b.txt ", true],
  ["files.read(path: 1)", true],
  ["files.write path=(1)", true],
  ['files.read {"path":"a"}', true],
  ['files.read path="a', true],
  ['files.read path="a\nb"', true],
  ['files.read path="a\nb', false],
  ["", false],
  [" \n ", false],
  ["files.delete path=a.txt", false],
  ["files.delete(path: 1)", false],
  ["files_read path=a.txt", false],
  ["files.read path=a.txt\nand then?", false],
  ["what now?\nfiles.read path=a.txt", false],
  ["files.read path=a.txt\nfiles.delete path=b.txt", false],
])("the user's text %j is a call of a known tool: %j", (text, isCall) => {
  expect(isTypedCall(text, () => tools)).toBe(isCall);
});

test("the app asks for the list of tools only if the user's text looks like calls", () => {
  let asked = 0;
  const list = (): readonly ConversationTool[] => {
    asked += 1;
    return tools;
  };
  for (const text of ["", "hello", "files.read path=a.txt\nhello"]) isTypedCall(text, list);
  expect(asked).toBe(0);
  isTypedCall("files.read path=a.txt", list);
  expect(asked).toBe(1);
});
