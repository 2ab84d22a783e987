import { describe, expect, test } from "vitest";
import { type CursorContext, cursorContextAt } from "../../src/tui/completer.ts";

/** The cursor stands at the end of the text, or where a bar is. */
function at(text: string, isManual = false): CursorContext | undefined {
  const cursor = text.indexOf("|");
  const whole = text.replace("|", "");
  return cursorContextAt({ text: whole, cursor: cursor === -1 ? whole.length : cursor }, isManual);
}

test.each<[string, CursorContext | undefined]>([
  ["", undefined],
  ["hello", undefined],
  ["/", { kind: "command", from: 0, typed: "/" }],
  ["/mc", { kind: "command", from: 0, typed: "/mc" }],
  ["/mc|p list", { kind: "command", from: 0, typed: "/mc" }],
  ["/etc/hosts", undefined],
  ["/mcp ", { kind: "word", from: 5, typed: "", command: "mcp", before: [] }],
  ["/mcp auth gi", { kind: "word", from: 10, typed: "gi", command: "mcp", before: ["auth"] }],
  ['/teach "two words" a=', { kind: "word", from: 19, typed: "a=", command: "teach", before: ["two words"] }],
  ['/teach a="tw', undefined],
  ["read @", { kind: "mention", from: 5, typed: "" }],
  ["read @notes:a and", undefined],
  ["read @no|tes:a and", { kind: "mention", from: 5, typed: "no" }],
  ['(@"two wor', { kind: "mention", from: 1, typed: "two wor" }],
  ["me@example", undefined],
  ["**@no", { kind: "mention", from: 2, typed: "no" }],
  ["请看@no", { kind: "mention", from: 2, typed: "no" }],
  ["two\nlines @src/", { kind: "mention", from: 10, typed: "src/" }],
])("in a conversation: %j", (text, place) => {
  expect(at(text)).toEqual(place);
});

describe("where a line is a call", () => {
  test.each<[string, CursorContext | undefined]>([
    ["dem", { kind: "target", from: 0, typed: "dem" }],
    ["demo.greet ", { kind: "parameter", from: 11, typed: "", target: "demo.greet", before: [] }],
    ["demo.greet a=1 name=", { kind: "parameter", from: 15, typed: "name=", target: "demo.greet", before: ["a=1"] }],
    ["demo.greet f=@src", { kind: "parameter", from: 11, typed: "f=@src", target: "demo.greet", before: [] }],
    ["demo.greet(na", undefined],
    ["@notes", { kind: "target", from: 0, typed: "@notes" }],
    ["demo.a x=1\ndemo.b", { kind: "target", from: 11, typed: "demo.b" }],
    ["/mcp", { kind: "command", from: 0, typed: "/mcp" }],
  ])("%j", (text, place) => {
    expect(at(text, true)).toEqual(place);
  });
});
