import { expect, test } from "vitest";
import { toolSignature } from "../../src/search/tool-signature.ts";

const object = (names: readonly string[], required: readonly string[] = []) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required,
});
const letters = (count: number): readonly string[] => Array.from("abcdefghijklmnop").slice(0, count);
const signature = (parameters: unknown, description = ""): string =>
  toolSignature({ name: "read", description, parameters });

test.each<[string, unknown, string]>([
  ["no parameters", { type: "object" }, "read()"],
  ["required ones first", object(["a", "b"], ["b"]), "read(b: string, a?: string)"],
  [
    "up to eight",
    object(letters(8)),
    "read(a?: string, b?: string, c?: string, d?: string, e?: string, f?: string, g?: string, h?: string)",
  ],
  [
    "the number of the others",
    object(letters(10)),
    "read(a?: string, b?: string, c?: string, d?: string, e?: string, f?: string, g?: string, h?: string, …+2)",
  ],
  [
    "all that are required",
    object(letters(11), letters(9)),
    "read(a: string, b: string, c: string, d: string, e: string, f: string, g: string, h: string, i: string, …+2)",
  ],
  [
    "one more instead of the number one",
    object(letters(9)),
    "read(a?: string, b?: string, c?: string, d?: string, e?: string, f?: string, g?: string, h?: string, i?: string)",
  ],
  ["a name that is no word in quotes", object(["a b"]), 'read("a b"?: string)'],
])("a signature has %s", (_what, parameters, expected) => {
  expect(signature(parameters)).toBe(expected);
});

test.each<[string, string, string]>([
  ["the first sentence", "Reads a file. Then stops.", "Reads a file."],
  ["a question", "Is it there? Tells.", "Is it there?"],
  ["a Chinese sentence at the end", "读取一个文件的内容。", "读取一个文件的内容。"],
  ["a description without an end", "Reads a file", "Reads a file"],
  ["more than an abbreviation", "E.g. reads it. Then stops.", "E.g. reads it."],
  ["a dot inside of a word", "Reads a.txt and b.txt. Then stops.", "Reads a.txt and b.txt."],
  ["one line", "  Reads\n a   file. Then stops.", "Reads a file."],
  ["at most 160 characters", `${"x".repeat(170)}.`, `${"x".repeat(159)}…`],
])("and of the description %s", (_what, description, expected) => {
  expect(signature({}, description)).toBe(`read() - ${expected}`);
});
