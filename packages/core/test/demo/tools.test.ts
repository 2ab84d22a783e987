import { inflateSync } from "node:zlib";
import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { createDemoSession } from "../../src/demo/session.ts";

const call = (name: string, args?: unknown): Promise<JsonObject> =>
  createDemoSession().request("tools/call", { name, ...(args === undefined ? {} : { arguments: args }) });

const says = (text: string): JsonObject => ({ content: [{ type: "text", text }] });

test("a tool is listed with title, description, schema and hints", async () => {
  const { tools } = await createDemoSession().request("tools/list");
  expect((tools as JsonObject[]).map(({ name }) => name)).toEqual([
    "greet",
    "picture",
    "statistics",
    "count",
    "wait",
    "fail",
  ]);
  expect((tools as JsonObject[])[0]).toEqual({
    name: "greet",
    title: "Greet someone",
    description: "Greet a person by name.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "who is greeted", examples: ["Ada"] },
        language: {
          type: "string",
          description: "the language to greet in",
          enum: ["en", "de", "es", "fr", "ja"],
          default: "en",
        },
        loud: { type: "boolean", description: "whether to shout", default: false },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  });
});

test.each([
  ["greet", { name: "Ada" }, says("Hello, Ada!")],
  ["greet", { name: "Ada", language: "ja" }, says("こんにちは, Ada!")],
  ["greet", { name: "Ada", language: "es", loud: true }, says("HOLA, ADA!")],
  ["greet", { name: "Ada", language: "de" }, says("Moin, Ada!")],
  ["greet", { name: "Ada", language: "fr" }, says("Bonjour, Ada!")],
  ["count", { to: 3, pause: 0 }, says("1 2 3")],
  ["wait", { seconds: 0 }, says("Waited 0 s.")],
  ["fail", undefined, { ...says("This tool failed: this is a test"), isError: true }],
  ["fail", { reason: "no wind" }, { ...says("This tool failed: no wind"), isError: true }],
])("%s %j", async (name, args, result) => {
  expect(await call(name, args)).toEqual(result);
});

describe("arguments that do not fit are an error result, which a model can read", () => {
  test.each([
    ["greet", undefined, '"name" is missing'],
    ["greet", {}, '"name" is missing'],
    ["greet", [], "the arguments must be an object"],
    ["greet", { name: 1 }, '"name" must be a string'],
    ["greet", { name: "Ada", language: "la" }, '"language" must be one of en, de, es, fr, ja'],
    ["greet", { name: "Ada", loud: "yes" }, '"loud" must be true or false'],
    ["greet", { name: "Ada", toString: "x" }, 'there is no parameter "toString"'],
    ["greet", JSON.parse('{"name":"Ada","__proto__":1}'), 'there is no parameter "__proto__"'],
    ["greet", { one: 1, name: "Ada", two: 2 }, 'there is no parameter "one"'],
    ["picture", { size: 7 }, '"size" must be an integer from 8 to 256'],
    ["picture", { size: 8.5 }, '"size" must be an integer from 8 to 256'],
    ["picture", { size: 257 }, '"size" must be an integer from 8 to 256'],
    ["wait", { seconds: -1 }, '"seconds" must be a number from 0 to 3600'],
  ])("%s %j", async (name, args, mistake) => {
    expect(await call(name, args)).toEqual({ ...says(`Invalid arguments for ${name}: ${mistake}`), isError: true });
  });
});

describe("a structured result fits its schema and says the same as text", () => {
  test.each([
    ["to be\nor not", { characters: 12, words: 4, lines: 2, longestWord: "not" }],
    ["two big cats nap", { characters: 16, words: 4, lines: 1, longestWord: "cats" }],
    ["big cat", { characters: 7, words: 2, lines: 1, longestWord: "big" }],
    ["", { characters: 0, words: 0, lines: 0, longestWord: "" }],
    ["Ahoi 👩‍🚀, Käpt'n", { characters: 14, words: 2, lines: 1, longestWord: "Käpt'n" }],
  ])("%j", async (text, structuredContent) => {
    expect(await call("statistics", { text })).toEqual({
      ...says(JSON.stringify(structuredContent)),
      structuredContent,
    });
  });
});

describe("a picture is a PNG of the size that was asked for", () => {
  test.each(["waves", "rings", "squares"])("%s", async (pattern) => {
    const { content } = await call("picture", { pattern, size: 16 });
    const [words, image] = content as { readonly data: string }[];
    expect(words).toEqual({ type: "text", text: `A picture of ${pattern}, 16 × 16 pixels.` });
    expect(image).toEqual({ type: "image", mimeType: "image/png", data: expect.any(String) as string });
    const png = Buffer.from(image?.data ?? "", "base64");
    expect(png.subarray(0, 8).toString("latin1")).toBe("\u0089PNG\r\n\u001a\n");
    const chunks = chunksOf(png);
    expect(chunks.map(({ type }) => type)).toEqual(["IHDR", "PLTE", "IDAT", "IEND"]);
    expect([chunks[0]?.data.readUInt32BE(0), chunks[0]?.data.readUInt32BE(4)]).toEqual([16, 16]);
    const pixels = inflateSync(chunks[2]?.data ?? "");
    expect(pixels).toHaveLength(16 * 17);
    expect(new Set(pixels).size).toBeGreaterThan(1);
    expect(Math.max(...pixels)).toBeLessThan(8);
  });
});

test.each([
  ["waves", ["12521521", "72027573", "27671016", "21303640", "73147465", "16760105", "40205750", "65265256"]],
  ["rings", ["17522571", "72144127", "51744715", "24422442", "24422442", "51744715", "72144127", "17522571"]],
  ["squares", ["07070707", "70707070", "07070707", "70707070", "07070707", "70707070", "07070707", "70707070"]],
])("the smallest picture of %s has these shades, each row unfiltered", async (pattern, rows) => {
  const { content } = await call("picture", { pattern, size: 8 });
  const [, image] = content as { readonly data: string }[];
  const [, , data] = chunksOf(Buffer.from(image?.data ?? "", "base64"));
  const pixels = inflateSync(data?.data ?? "");
  expect(rows.map((_, y) => pixels.subarray(y * 9, y * 9 + 9).join(""))).toEqual(rows.map((row) => `0${row}`));
});

test("a picture may have 256 pixels on each side, and shows waves unless the client says otherwise", async () => {
  const { content } = await call("picture", { size: 256 });
  expect((content as JsonObject[])[0]).toEqual({ type: "text", text: "A picture of waves, 256 × 256 pixels." });
});

test("the result of statistics has a schema, and a tool without required parameters names none", async () => {
  const { tools } = await createDemoSession().request("tools/list");
  const integer = { type: "integer" };
  const [, , statistics, , , fail] = tools as JsonObject[];
  expect(statistics?.["outputSchema"]).toEqual({
    type: "object",
    properties: { characters: integer, words: integer, lines: integer, longestWord: { type: "string" } },
    required: ["characters", "words", "lines", "longestWord"],
  });
  expect(fail?.["inputSchema"]).toEqual({
    type: "object",
    properties: { reason: { type: "string", description: "the reason to report", default: "this is a test" } },
    additionalProperties: false,
  });
});

function chunksOf(png: Buffer): { readonly type: string; readonly data: Buffer }[] {
  const chunks = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}
