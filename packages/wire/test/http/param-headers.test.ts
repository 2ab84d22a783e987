import { describe, expect, test } from "vitest";
import { headerValue, standardHeaders } from "../../src/eras/protocol.ts";
import { paramHeadersOf, paramHeaderValues } from "../../src/http/param-headers.ts";
import type { JsonObject } from "../../src/session.ts";

const marked = (header: unknown, type: unknown = "string"): JsonObject => ({ type, "x-mcp-header": header });
const schema = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: "object", properties, ...rest });

describe("marks in a schema", () => {
  test("are found at any depth of named properties", () => {
    expect(
      paramHeadersOf(
        schema({
          region: marked("Region"),
          plain: { type: "string" },
          dry: marked("Dry-Run", "boolean"),
          where: schema({ shard: marked("Shard", "integer") }),
        }),
      ),
    ).toEqual({
      valid: true,
      headers: [
        { header: "Region", path: ["region"] },
        { header: "Dry-Run", path: ["dry"] },
        { header: "Shard", path: ["where", "shard"] },
      ],
    });
  });

  test.each([
    ["a schema without marks", schema({ a: { type: "string" } })],
    ["a property that is called like the mark", schema({ "x-mcp-header": { type: "string" } })],
    ["a default value that looks like one", schema({ a: { type: "object", default: { "x-mcp-header": "no" } } })],
    ["properties that are called like keywords", schema({ items: { type: "string" }, not: { type: "string" } })],
    ["no schema at all", undefined],
    ["a schema that is true", true],
    ["properties that are a list", { type: "object", properties: [{ "x-mcp-header": "A" }] }],
  ])("%s is valid and has none", (_, given) => {
    expect(paramHeadersOf(given)).toEqual({ valid: true, headers: [] });
  });

  test.each([
    ["an empty name", schema({ a: marked("") })],
    ["a name that is no string", schema({ a: marked(7) })],
    ["a name with a space", schema({ a: marked("My Header") })],
    ["a name with a line break", schema({ a: marked("A\r\nB") })],
    ["a name with a colon", schema({ a: marked("A:") })],
    ["a name that is not ASCII", schema({ a: marked("Größe") })],
    ["a name used twice, in another case", schema({ a: marked("Region"), b: marked("REGION") })],
    ["a number", schema({ a: marked("A", "number") })],
    ["an object", schema({ a: marked("A", "object") })],
    ["a list", schema({ a: marked("A", "array") })],
    ["a value of several types", schema({ a: marked("A", ["string", "null"]) })],
    ["a value of no type", schema({ a: { "x-mcp-header": "A" } })],
    ["the whole input", { ...marked("A"), type: "object" }],
    ["items", schema({ a: { type: "array", items: marked("A") } })],
    ["properties of items", schema({ a: { type: "array", items: schema({ b: marked("A") }) } })],
    ["one of several items", schema({ a: { type: "array", prefixItems: [{}, marked("A")] } })],
    ["additional properties", schema({}, { additionalProperties: marked("A") })],
    ["pattern properties", schema({}, { patternProperties: { "^a": marked("A") } })],
    ["one of", schema({ a: { oneOf: [{ type: "null" }, marked("A")] } })],
    ["all of", schema({}, { allOf: [schema({ a: marked("A") })] })],
    ["not", schema({ a: { not: marked("A") } })],
    ["else", schema({}, { if: {}, else: schema({ a: marked("A") }) })],
    ["definitions", schema({}, { $defs: { a: marked("A") } })],
    ["dependent schemas", schema({}, { dependentSchemas: { a: schema({ b: marked("A") }) } })],
  ])("on %s make the tool invalid", (_, given) => {
    const found = paramHeadersOf(given);
    expect(found.valid ? "valid" : found.reason).toMatch(/^x-mcp-header /);
  });

  test("a schema without end is not followed without end", () => {
    for (const levels of [65, 10_000, 200_000]) {
      let deep = marked("A");
      for (let level = 0; level < levels; level += 1) deep = schema({ a: deep });
      expect(paramHeadersOf(deep)).toEqual({
        valid: false,
        reason: "the schema is too deep or too large to search",
      });
    }
  });
});

describe("headers of a call", () => {
  const headers = [
    { header: "Region", path: ["region"] },
    { header: "Shard", path: ["where", "shard"] },
  ];
  test.each([
    [
      { region: "eu", where: { shard: 7 } },
      { "mcp-param-region": "eu", "mcp-param-shard": "7" },
    ],
    [
      { region: "", where: { shard: true } },
      { "mcp-param-region": "=?base64??=", "mcp-param-shard": "true" },
    ],
    [{ region: null, where: null }, {}],
    [{ region: ["eu"], where: { shard: 1.5 } }, {}],
    [{ where: { shard: 2 ** 60 } }, {}],
    [undefined, {}],
    ["region", {}],
  ])("with %j are %j", (args, expected) => {
    expect(paramHeaderValues(headers, args)).toEqual(expected);
  });

  test("only own properties count", () => {
    expect(paramHeaderValues([{ header: "A", path: ["constructor", "name"] }], {})).toEqual({});
  });
});

describe("values of headers", () => {
  test.each([
    ["us-west1", "us-west1"],
    ["two words\tand a tab", "two words\tand a tab"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["a\0b", "=?base64?YQBi?="],
    ["a\x7fb", "=?base64?YX9i?="],
    ["~", "~"],
  ])("%j travels as %s", (value, header) => {
    expect(headerValue(value)).toBe(header);
  });

  test.each([
    ["tools/call", { name: "größe" }, { "mcp-method": "tools/call", "mcp-name": "=?base64?Z3LDtsOfZQ==?=" }],
    ["prompts/get", { name: "review" }, { "mcp-method": "prompts/get", "mcp-name": "review" }],
    ["resources/read", { uri: "file:///a", name: "b" }, { "mcp-method": "resources/read", "mcp-name": "file:///a" }],
    ["tools/list", { name: "x" }, { "mcp-method": "tools/list" }],
    ["tools/call", { name: 7 }, { "mcp-method": "tools/call" }],
  ])("%s is named in the standard headers", (method, params, expected) => {
    expect(standardHeaders(method, params)).toEqual(expected);
  });
});

test("what is wrong with a mark is said in few words, however long the names are", () => {
  const long = "x".repeat(100_000);
  const marked = (type: string, ...marks: unknown[]): unknown => ({
    type: "object",
    properties: Object.fromEntries(marks.map((mark, index) => [`${long}${index}`, { type, "x-mcp-header": mark }])),
  });
  for (const schema of [marked("string", 7), marked("number", "A"), marked("string", long, long)]) {
    const found = paramHeadersOf(schema);
    expect(found.valid).toBe(false);
    expect(JSON.stringify(found).length).toBeLessThan(500);
  }
});
