import type { JsonObject } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createValidator } from "../../../src/execute/validation/validator.ts";
import { nested, twiceRecursive } from "../../support/schema-bombs.ts";

// Whatever the machine is busy with: none of these is slow.
const validator = createValidator({ timeLimit: 60_000 });
// Costly schemas are checked in a thread: it starts here, because all tests of this file share it.
beforeAll(async () => void (await validator.validate({ $dynamicRef: "#" }, {})));
afterAll(() => validator.close());

async function check(schema: JsonObject, value: unknown): Promise<object> {
  const { issues, warnings } = await validator.validate(schema, value);
  return { issues: issues.map(({ path, message }) => `${path} ${message}`.trim()), warnings };
}

describe("patterns", () => {
  test("two patterns in one schema, and across schemas, are each their own", async () => {
    const schema = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(await check(schema, { a: "b", b: "a" })).toEqual({
      issues: ["/a must match the pattern ^a$", "/b must match the pattern ^b$"],
      warnings: [],
    });
    expect(await check({ pattern: "^c$" }, "a")).toEqual({ issues: ["must match the pattern ^c$"], warnings: [] });
    expect(await check(schema, { a: "a", b: "b" })).toEqual({ issues: [], warnings: [] });
  });

  test.each<[string, string, boolean]>([
    ["^(a+)+$", `${"a".repeat(50_000)}!`, false],
    ["^(a|a)*$", `${"a".repeat(50_000)}!`, false],
    ["(x+x+)+y", "x".repeat(50_000), false],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(20_000), false],
    ["\\u0041\\/\\cA", "A/\u0001", true],
    ["^\\S+@\\S+\\.\\S+$", "ada@example.com", true],
    ["^[\\p{L}]{2}$", "äß", true],
    ["^.{1,1000}$", "x", true],
  ])("%s is matched in linear time", async (pattern, value, matches) => {
    expect(await check({ pattern }, value)).toEqual({
      issues: matches ? [] : [`must match the pattern ${pattern}`],
      warnings: [],
    });
  });

  test.each([
    ["(?=a)b", "invalid or unsupported Perl syntax: `(?=`"],
    ["(?<!a)b", "invalid named capture: `(?<!a)b`"],
    ["(a)\\1", "invalid escape sequence: `\\1`"],
    ["^.{0,5000}$", "invalid repeat count: `{0,5000}`"],
  ])("%s is not checked, and the rest is", async (pattern, why) => {
    expect(
      await check({ properties: { a: { pattern, maxLength: 1 }, b: { type: "string" } } }, { a: "no", b: 1 }),
    ).toEqual({
      issues: ["/a must have at most 1 character", "/b must be a string"],
      warnings: [`validated only in part: the pattern ${pattern} at /properties/a/pattern was not checked (${why})`],
    });
  });

  test("a property that an unchecked pattern may allow is not refused", async () => {
    const schema = {
      patternProperties: { "^(?!b)": { type: "string" }, "^n": { type: "number" } },
      additionalProperties: false,
    };
    expect(await check(schema, { a: 1, n: "1" })).toMatchObject({
      issues: ["/n must be a number"],
      warnings: { length: 2 },
    });
  });

  test.each<[string, JsonObject, unknown, readonly string[]]>([
    ["not", { not: { pattern: "(?=a)" } }, "x", []],
    ["if", JSON.parse('{"if":{"pattern":"(?=a)"},"then":false}'), "x", []],
    ["oneOf", { oneOf: [{ pattern: "(?=a)" }, { type: "string" }] }, "x", []],
    [
      "oneOf without a form that fits",
      { oneOf: [{ type: "null" }, { pattern: "(?=a)", type: "string" }] },
      1,
      ["must be null or a string"],
    ],
    ["not behind a reference", { not: { $ref: "#/$defs/a" }, $defs: { a: { pattern: "(?=a)" } } }, "x", []],
    [
      "unevaluatedProperties",
      { allOf: [{ patternProperties: { "(?=a)": true } }], unevaluatedProperties: false },
      { a: 1 },
      [],
    ],
    ["maxContains", { contains: { pattern: "(?=a)" }, maxContains: 1 }, ["x", "y"], []],
  ])("what is left out never makes %s refuse a value", async (_, schema, value, issues) => {
    expect(await check(schema, value)).toMatchObject({ issues, warnings: [expect.stringContaining("(?=a)")] });
  });
});

describe("references", () => {
  test.each([
    "https://example.com/schema.json",
    "file:///etc/passwd",
    "https://json-schema.org/draft/2020-12/schema",
    "#/$defs/nothing",
    "#/%E0%A4%A",
    "#/__proto__",
    "#/constructor",
  ])("%s leads nowhere, and the rest is checked", async ($ref) => {
    expect(await check({ properties: { a: { $ref }, b: { type: "string" } } }, { a: 1, b: 1 })).toEqual({
      issues: ["/b must be a string"],
      warnings: [
        `validated only in part: the reference ${$ref} at /properties/a/$ref is outside the schema and is not fetched`,
      ],
    });
  });

  test("one that only its names could explain is not guessed", async () => {
    const schema = { $id: "https://example.com/a", properties: { a: { $ref: "https://example.com/b" } } };
    expect(await check(schema, { a: 1 })).toEqual({
      issues: [],
      warnings: [
        "not validated: its schema could not be used (can't resolve reference https://example.com/b from id https://example.com/a)",
      ],
    });
  });

  test("what one schema names is not seen by another, nor in its way", async () => {
    const $id = "https://example.com/shared";
    const first = { $defs: { a: { $id, type: "string" } }, properties: { a: { $ref: $id } } };
    const second = { $defs: { a: { $id, type: "number" } }, properties: { a: { $ref: $id } } };
    expect(await check(first, { a: true })).toEqual({ issues: ["/a must be a string"], warnings: [] });
    expect(await check(second, { a: true })).toEqual({ issues: ["/a must be a number"], warnings: [] });
    expect(await check({ properties: { a: { $ref: $id } } }, { a: true })).toMatchObject({
      issues: [],
      warnings: { length: 1 },
    });
  });

  test.each([
    ["2020-12", "https://json-schema.org/draft/2020-12/schema"],
    ["draft-07", "http://json-schema.org/draft-07/schema"],
  ])("the schema of schemas of %s is not at hand, and its name is free", async (_, $id) => {
    const taking = { $schema: $id, $defs: { a: { $id, type: "string" } }, properties: { a: { $ref: $id } } };
    expect(await check(taking, { a: true })).toEqual({ issues: ["/a must be a string"], warnings: [] });
    const referring = { $schema: $id, $id: "https://example.com/a", properties: { a: { $ref: $id } } };
    expect(await check(referring, { a: 1 })).toEqual({
      issues: [],
      warnings: [
        `not validated: its schema could not be used (can't resolve reference ${$id} from id https://example.com/a)`,
      ],
    });
  });

  test("into a keyword that is not known are followed", async () => {
    const schema = { $ref: "#/components/schemas/a%20b", components: { schemas: { "a b": { type: "string" } } } };
    expect(await check(schema, 1)).toEqual({ issues: ["must be a string"], warnings: [] });
  });
});

describe("schemas that are not quite schemas", () => {
  test.each<[string, JsonObject, unknown, readonly string[]]>([
    [
      "empty fields of a record",
      { type: "object", properties: { a: null }, required: null, enum: [], anyOf: [], items: null },
      {},
      ["/properties/a is not a schema"],
    ],
    ["an unknown type", { type: "any" }, 1, ['"type" at /type is not valid JSON Schema']],
    [
      "required in the wrong place",
      { properties: { a: { required: true, type: "string" } } },
      { a: "x" },
      ['"required" at /properties/a/required is not valid JSON Schema'],
    ],
    ["a word for a schema", { properties: { a: "string" } }, { a: 1 }, ["/properties/a is not a schema"]],
    [
      "numbers as texts",
      { minimum: "3", multipleOf: 0, maxLength: -1 },
      1,
      [
        '"minimum" at /minimum is not valid JSON Schema',
        '"multipleOf" at /multipleOf is not valid JSON Schema',
        '"maxLength" at /maxLength is not valid JSON Schema',
      ],
    ],
    [
      "an object for a list",
      { allOf: {}, required: {} },
      1,
      ['"allOf" at /allOf is not valid JSON Schema', '"required" at /required is not valid JSON Schema'],
    ],
  ])("%s", async (_, schema, value, reasons) => {
    expect(await check(schema, value)).toEqual({
      issues: [],
      warnings: reasons.map((reason) => `validated only in part: ${reason}`),
    });
  });

  test.each<[string, JsonObject]>([
    ["$async", { $async: true, type: "string" }],
    ["$async inside", { allOf: [{ $async: true, type: "string" }] }],
    ["id as an object", { id: { type: "string" }, type: "string" }],
    ["nullable without a type", { nullable: true, allOf: [{ type: "string" }] }],
    ["nullable: false", { nullable: false, type: "string" }],
    ["$data", { type: "string", minLength: { $data: "/a" } }],
    ["a default", { type: "string", default: { pattern: "(?=a)", type: 3 } }],
    ["tags", { type: "string", tags: ["a"], "x-order": [1] }],
    [
      "keywords of Object.prototype",
      JSON.parse('{"type":"string","constructor":1,"toString":{},"__proto__":{"type":"number"}}'),
    ],
  ])("%s changes nothing", async (_, schema) => {
    expect(await check(schema, 1)).toMatchObject({ issues: ["must be a string"] });
    expect(await check(schema, "x")).toMatchObject({ issues: [] });
  });

  test("many omissions are told in few words", async () => {
    const properties = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, { pattern: "(?=a)" }]));
    const { warnings } = await validator.validate({ properties }, {});
    expect(warnings).toHaveLength(6);
    expect(warnings.at(-1)).toBe("validated only in part: 35 more places of the schema were not checked");
  });
});

describe("values", () => {
  const parse = (text: string): unknown => JSON.parse(text);
  test.each<[string, JsonObject, unknown, readonly string[]]>([
    [
      "__proto__ is a name like others",
      { properties: { a: {} }, additionalProperties: false },
      parse('{"__proto__":1}'),
      ["/__proto__ is not a known property"],
    ],
    [
      "its value too",
      { additionalProperties: { type: "string" } },
      parse('{"__proto__":{"a":1}}'),
      ["/__proto__ must be a string"],
    ],
    ["it is not there unless it is given", { required: ["__proto__"] }, {}, ["/__proto__ is missing"]],
    ["and there when it is", { required: ["__proto__"] }, parse('{"__proto__":1}'), []],
    [
      "nor are other words",
      { required: ["constructor", "toString"] },
      {},
      ["/constructor is missing", "/toString is missing"],
    ],
    ["nor do they have a type", { properties: { constructor: { type: "string" } } }, {}, []],
  ])("%s", async (_, schema, value, issues) => {
    expect(await check(schema, value)).toEqual({ issues, warnings: [] });
    // The same in a thread.
    expect(await check({ ...schema, $defs: { again: { $ref: "#" } } }, value)).toEqual({ issues, warnings: [] });
  });

  test("issues are bounded in number and in length", async () => {
    const value = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}${"k".repeat(2000)}`, "v"]));
    const { issues } = await validator.validate({ additionalProperties: { enum: ["x".repeat(9000), 1, 2] } }, value);
    expect(issues).toHaveLength(20);
    for (const { path, message } of issues) {
      expect(path.length).toBeLessThanOrEqual(1000);
      expect(message.length).toBeLessThanOrEqual(300);
    }
  });

  const circle: unknown[] = [];
  circle.push(circle);
  test.each<[string, JsonObject, unknown, RegExp]>([
    ["nested deeper than can be followed", twiceRecursive, nested(100_000), /nested too deeply/],
    ["a circle", {}, circle, /too large/],
    ["more than a million", {}, Array.from({ length: 1_000_001 }, () => 0), /too large/],
    ["names that the comparison trips over", { enum: [{ a: 1 }] }, { a: 1, valueOf: 1 }, /could not be used/],
  ])("%s is not validated", async (_, schema, value, reason) => {
    const warnings = [expect.stringMatching(/^not validated: the value /), expect.stringMatching(reason)];
    for (const warning of warnings) expect(await check(schema, value)).toEqual({ issues: [], warnings: [warning] });
  });

  test("a long text without a pattern costs nothing", async () => {
    const value = { content: "x".repeat(40_000_000) };
    expect(await check({ properties: { content: { type: "number" } } }, value)).toMatchObject({
      issues: { length: 1 },
    });
  });
});
