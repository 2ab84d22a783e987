import { Readable } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { readArguments, readObject, type TypedArguments } from "../../src/arguments/arguments.ts";
import { parseCallExpression } from "../../src/arguments/call-expression.ts";
import type { Io } from "../../src/shell/verb.ts";
import { writtenOutput } from "../support/written-output.ts";

const schema = {
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "integer" } },
  },
  required: ["count"],
  additionalProperties: { type: "boolean" },
};

/** The arguments that were read, or the code, message and next step of the error. */
async function read(given: Partial<TypedArguments>, io: Partial<Io> = {}, of: unknown = schema): Promise<unknown> {
  const { context } = writtenOutput();
  try {
    return await readArguments({ words: [], json: undefined, ...given }, of, {
      ...context,
      io: { ...context.io, ...io },
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [error.code, error.message, error.next];
  }
}

const written = (expression: string): Pick<TypedArguments, "written"> => {
  const parsed = parseCallExpression(expression);
  return parsed === undefined ? {} : { written: parsed };
};

describe("the user types arguments", () => {
  test.each<[words: readonly string[], expected: unknown]>([
    [[], {}],
    [["text=a"], { text: "a" }],
    [["text=a=b"], { text: "a=b" }],
    [["text="], { text: "" }],
    [["text=5", "count=5"], { text: "5", count: 5 }],
    [["text:=5"], { text: 5 }],
    [['text:={"a":[1]}'], { text: { a: [1] } }],
    [["text=:=5"], { text: ":=5" }],
    [["tags=5"], { tags: [5] }],
    [["tags=5", "text=x", "tags=6"], { tags: [5, 6], text: "x" }],
    [["tags=5", 'tags:="x"'], { tags: [5, "x"] }],
    [["other=true"], { other: true }],
    [["text=@a\nb"], { text: "@a\nb" }],
    [["text=a@b"], { text: "a@b" }],
    [['{"count":1,"x":[2]}'], { count: 1, x: [2] }],
    [["{a}=true"], { "{a}": true }],
    [
      ["text=a", "text=b"],
      ["usage", '"text" is given twice', undefined],
    ],
    [["count=x"], ["arguments_invalid", 'count must be an integer, not "x"', undefined]],
    [
      ["tags=1", "tags=x"],
      ["arguments_invalid", 'tags must be an integer, not "x"', undefined],
    ],
    [["other=x"], ["arguments_invalid", 'other must be true or false, not "x"', undefined]],
    [["word"], ["usage", '"word" is not an argument', "write key=value, key:=json, or --args JSON"]],
    [["=a"], ["usage", '"=a" is not an argument', "write key=value, key:=json, or --args JSON"]],
    [[":=5"], ["usage", '":=5" is not an argument', "write key=value, key:=json, or --args JSON"]],
    [["text:a b"], ["usage", '"text:a b" is not an argument', "write text=a b"]],
    [
      ["{}", "word"],
      ["usage", '"{}" is not an argument', "write key=value, key:=json, or --args JSON"],
    ],
  ])("as words: %j", async (words, expected) => {
    expect(await read({ words })).toEqual(expected);
  });

  test("as words of a tool whose schema has no types for other names", async () => {
    expect(await read({ words: ["a=true", "b=1"] }, {}, { additionalProperties: true })).toEqual({ a: "true", b: "1" });
    expect(await read({ words: ["a=true"] }, {}, {})).toEqual({ a: "true" });
  });

  test.each<[expression: string, expected: unknown]>([
    ["s.t()", {}],
    ["s.t(1)", { count: 1 }],
    ["s.t(1, 'a', [2])", { count: 1, text: "a", tags: [2] }],
    ["s.t(1, other: 2)", { count: 1, other: 2 }],
    ["s.t(1, 2, 3, 4)", ["arguments_invalid", "s.t has 3 parameters but got 4 positional values", undefined]],
    ["s.t(1, count: 2)", ["arguments_invalid", '"count" is given twice: by position and by name', undefined]],
  ])("as in code: %s", async (expression, expected) => {
    expect(await read(written(expression))).toEqual(expected);
  });

  test.each<[json: string, expected: unknown]>([
    ['{"a":1}', { a: 1 }],
    ["[1]", [1]],
    ['{"a":1,"a":2}', ["arguments_invalid", '--args has the key "a" twice in one object', undefined]],
  ])("with --args %s", async (json, expected) => {
    expect(await read({ json })).toEqual(expected);
  });

  test.each<[given: Partial<TypedArguments>]>([
    [{ words: ["-"], json: "{}" }],
    [{ words: ["-", "a=1"] }],
    [{ words: ["a=1"], json: "{}" }],
    [{ json: "{}", ...written("s.t()") }],
    [{ words: ["a=1"], ...written("s.t()") }],
  ])("in only one of the four ways: %j", async (given) => {
    expect(await read(given)).toEqual([
      "usage",
      "arguments given in more than one way: use only one of key=value, tool(key: value), --args and - (stdin)",
      undefined,
    ]);
  });
});

describe("a file's text is the value of @FILE", () => {
  test("relative to the current folder, as text or as JSON", async () => {
    await using folder = await temporaryFolder();
    await folder.write("a.txt", "5");
    const io = { cwd: folder.path };
    expect(await read({ words: ["text=@a.txt", "count=@a.txt", "other:=@a.txt"] }, io)).toEqual({
      text: "5",
      count: 5,
      other: 5,
    });
    expect(await read({ words: ["text=@b.txt"] }, io)).toEqual([
      "usage",
      "text: cannot read the file b.txt: the file does not exist",
      `to pass the text itself, write: text:='"@b.txt"'`,
    ]);
    const [code, message] = (await read({ words: ["text=@."] }, io)) as string[];
    expect(code).toBe("usage");
    expect(message).toMatch(/^text: cannot read the file \.: (?!the file does not exist)\S/);
  });
});

describe("standard input", () => {
  const stdin = (...chunks: readonly (Buffer | string)[]): Partial<Io> => ({ stdin: Readable.from(chunks) });

  test("is one JSON value, in any number of pieces", async () => {
    const bytes = Buffer.from('{"text":"é"}');
    expect(await read({ words: ["-"] }, stdin(bytes.subarray(0, 10), bytes.subarray(10)))).toEqual({ text: "é" });
    expect(await read({ words: ["-"] }, stdin("[1,", "2]"))).toEqual([1, 2]);
    expect(await read({ words: ["-"] }, stdin('{"a":1e999}'))).toEqual([
      "arguments_invalid",
      "stdin has a number that JavaScript cannot hold exactly: 1e999",
      undefined,
    ]);
  });

  test("has at most 16 MiB", async () => {
    const most = Buffer.alloc(16_777_216, "x");
    expect(await read({ words: ["-"] }, stdin(most))).toEqual([
      "arguments_invalid",
      expect.stringMatching(/^stdin is not JSON: /),
      undefined,
    ]);
    expect(await read({ words: ["-"] }, stdin(most, "x"))).toEqual([
      "too_large",
      "stdin is too large: more than 16777216 bytes",
      undefined,
    ]);
  });

  test.each([
    [true, ["-"], "Type the arguments as JSON, then press Ctrl-D.\n"],
    [false, ["-"], ""],
    [true, ["text=a"], ""],
  ] as const)("with a terminal (%s) and the words %j says: %j", async (isTTY, words, said) => {
    const { context, stderr } = writtenOutput();
    const io = { ...context.io, stdin: Object.assign(Readable.from(["{}"]), { isTTY }) };
    await readArguments({ words, json: undefined }, schema, { ...context, io });
    io.stdin.destroy();
    expect(stderr()).toBe(said);
  });
});

test.each<[text: string, object: object | undefined]>([
  ["{}", {}],
  ['{"a":\n1}', { a: 1 }],
  ["[]", undefined],
  ["{a}", undefined],
  ["{}x", undefined],
  ['{"a":1,"a":1}', undefined],
  ['{"a":12345678901234567890}', undefined],
])("a word is an object only if it is exact JSON: %s", (text, object) => {
  expect(readObject(text)).toEqual(object);
});
