/** What is said about values and schemas, and where it is cut. */

import type { JsonObject } from "@fairlead/wire";
import { clip } from "@fairlead/wire/text";
import { afterAll, describe, expect, test } from "vitest";
import { createValidator } from "../../../src/execute/validation/validator.ts";
import { followReference, pointerTo } from "../../../src/normalise/schema/pointer.ts";

// Whatever the machine is busy with: none of these is slow.
const validator = createValidator({ timeLimit: 60_000 });
afterAll(() => validator.close());

async function check(schema: JsonObject, value: unknown): Promise<object> {
  const { issues, warnings } = await validator.validate(schema, value);
  return { issues: issues.map(({ path, message }) => `${path} ${message}`.trim()), warnings };
}

describe("a value that does not fit", () => {
  const letters = (count: number): string[] => Array.from({ length: count }, (_, at) => `v${at}`);
  test.each<[string, JsonObject, unknown, readonly string[]]>([
    ["a truth value", { type: "boolean" }, 1, ["must be true or false"]],
    ["three types", { type: ["boolean", "array", "null"] }, 1, ["must be true or false, an array or null"]],
    ["too many items", { maxItems: 2 }, [1, 2, 3], ["must have at most 2 items"]],
    ["any text at all", { maxLength: 0 }, "a", ["must have at most 0 characters"]],
    ["too many properties", { maxProperties: 1 }, { a: 1, b: 2 }, ["must have at most 1 property"]],
    ["too few properties", { minProperties: 2 }, { a: 1 }, ["must have at least 2 properties"]],
    ["items of no form", { prefixItems: [{}], unevaluatedItems: false }, [1, 2], ["must have at most 1 item"]],
    ["one of ten values", { enum: letters(10) }, "x", ["is not one of: v0, v1, v2, v3, v4, v5, v6, v7, v8, v9"]],
    [
      "one of eleven values",
      { enum: letters(11) },
      "x",
      ["is not one of: v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, … (11 in all)"],
    ],
    [
      "a type, or another rule",
      { anyOf: [{ type: "string" }, { minimum: 3 }] },
      1,
      ["matches none of the allowed forms (must be a string; must be at least 3)"],
    ],
    [
      "a type here, or one further in",
      { anyOf: [{ properties: { a: { type: "string" } } }, { type: "null" }] },
      { a: 1 },
      ["matches none of the allowed forms (/a must be a string; must be null)"],
    ],
    [
      "one of four forms, of which three are told",
      { anyOf: [{ minimum: 2 }, { minimum: 3 }, { minimum: 4 }, { minimum: 5 }] },
      1,
      ["matches none of the allowed forms (must be at least 2; must be at least 3; must be at least 4)"],
    ],
    [
      "a union beside another rule",
      { properties: { a: { minimum: 3 } }, anyOf: [{ required: ["b"] }, { required: ["c"] }] },
      { a: 1 },
      ["matches none of the allowed forms (/b is missing; /c is missing)", "/a must be at least 3"],
    ],
    [
      "a union further in, beside its neighbours",
      { properties: { a: { minimum: 3 }, b: { anyOf: [{ type: "null" }, { type: "string" }] } } },
      { a: 1, b: 2 },
      ["/a must be at least 3", "/b must be null or a string"],
    ],
    ["a schema that depends", { dependencies: { a: { required: ["b"] } } }, { a: 1 }, ["/b is missing"]],
    ["a list that depends on nothing given", { dependencies: { a: ["b"] } }, { c: 1 }, []],
    [
      "a name full of signs",
      { additionalProperties: false },
      { "a/b/c~d~e": 1 },
      ["/a~1b~1c~0d~0e is not a known property"],
    ],
  ])("%s", async (_, schema, value, issues) => {
    expect(await check(schema, value)).toEqual({ issues, warnings: [] });
  });

  test("carries what its schema says, cut where that is long", async () => {
    const long = { enum: Array.from({ length: 150 }, (_, at) => at) };
    const [issue] = (await validator.validate(long, "x")).issues;
    expect(issue?.params).toEqual({ allowedValues: long.enum.slice(0, 100) });
    const pattern = "a".repeat(900);
    const [other] = (await validator.validate({ pattern }, "x")).issues;
    expect(other).toEqual({
      path: "",
      message: `must match the pattern ${"a".repeat(99)}…`,
      keyword: "pattern",
      params: { pattern },
    });
  });
});

describe("older words", () => {
  const draft04 = "http://json-schema.org/draft-04/schema#";
  const draft07 = "http://json-schema.org/draft-07/schema#";
  test.each<[string, string | undefined, JsonObject, unknown, readonly string[]]>([
    ["exclusiveMaximum: true", draft04, { maximum: 1, exclusiveMaximum: true }, 1, ["must be less than 1"]],
    ["exclusiveMinimum: true without a minimum", draft04, { exclusiveMinimum: true }, 1, []],
    ["exclusiveMaximum: true without a maximum", draft04, { exclusiveMaximum: true }, 1, []],
    ["a list without an end", undefined, { items: [{ type: "string" }] }, ["a", 2], []],
    [
      "$defs beside a reference",
      draft07,
      { $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
      1,
      ["must be a string"],
    ],
    [
      "a word of no dialect beside a reference",
      draft07,
      { $ref: "#/x-types/a", "x-types": { a: { type: "string" } } },
      1,
      ["must be a string"],
    ],
    [
      "the newest schema",
      "https://json-schema.org/schema",
      { prefixItems: [{ type: "string" }] },
      [1],
      ["/0 must be a string"],
    ],
    [
      "a dialect over http",
      "http://json-schema.org/draft/next/schema",
      { prefixItems: [{ type: "null" }] },
      [1],
      ["/0 must be null"],
    ],
    ["draft-03", "http://json-schema.org/draft-03/schema#", { prefixItems: [{ type: "null" }] }, [1], []],
  ])("%s", async (_, $schema, schema, value, issues) => {
    const dialect = $schema === undefined ? {} : { $schema };
    expect(await check({ ...dialect, ...schema }, value)).toEqual({ issues, warnings: [] });
  });
});

describe("a keyword with a value that it cannot have is left out, and said", () => {
  const number = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
  const schemas = ["allOf", "anyOf", "oneOf", "prefixItems"];
  const schema = ["additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];
  const named = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
  test.each<[string, unknown]>([
    ...["$ref", "$dynamicRef", "$anchor", "$dynamicAnchor", "pattern"].map((key): [string, unknown] => [key, 7]),
    ...number.map((key): [string, unknown] => [key, "7"]),
    ...[...counts, "minContains", "maxContains"].flatMap((key): [string, unknown][] => [
      [key, "7"],
      [key, 1.5],
    ]),
    ["multipleOf", -1],
    ["uniqueItems", "yes"],
    ["required", ["a", 1]],
    ["enum", "a"],
    ["type", ["string", "text"]],
    ["dependentRequired", { a: ["b"], c: "d" }],
    ...[...schemas, ...named].map((key): [string, unknown] => [key, 7]),
    ...[...schema, "additionalItems", "unevaluatedItems", "unevaluatedProperties"].map((key): [string, unknown] => [
      key,
      7,
    ]),
    ["not", [{}]],
  ])("%s: %j", async (key, value) => {
    expect(await check({ [key]: value }, 1)).toEqual({
      issues: [],
      warnings: [`validated only in part: "${key}" at /${key} is not valid JSON Schema`],
    });
  });

  test.each<[string, JsonObject]>([
    ["const", { const: { pattern: "(?=a)" } }],
    ["examples", { examples: { pattern: "(?=a)" } }],
    ["default", { default: { pattern: "(?=a)" } }],
  ])("but what %s holds is no schema", async (_, schema) => {
    expect(await check(schema, { pattern: "(?=a)" })).toEqual({ issues: [], warnings: [] });
  });

  test("what cannot be evaluated never makes unevaluatedItems refuse a value", async () => {
    const schema = { contains: { pattern: "(?=a)" }, unevaluatedItems: false };
    expect(await check(schema, ["x"])).toMatchObject({ issues: [], warnings: { length: 1 } });
  });

  test("five are told one by one, and none is counted then", async () => {
    const properties = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`p${at}`, { type: "any" }]));
    const { warnings } = await validator.validate({ properties }, {});
    expect(warnings).toEqual(
      Object.keys(properties).map(
        (key) => `validated only in part: "type" at /properties/${key}/type is not valid JSON Schema`,
      ),
    );
  });
});

describe("a reference", () => {
  const root = { a: { "b/c/d": { "~e~": 1, "~1": 2 } }, list: [3] };
  test.each<[string, unknown]>([
    ["#", root],
    ["#/a/b~1c~1d/~0e~0", 1],
    ["#/a/b~1c~1d/~01", 2],
    ["#/list/0", 3],
    ["#/list/1", undefined],
    ["#/a/b~1c~1d/~0e~0/deeper", undefined],
    ["a#/", undefined],
    ["#a", undefined],
  ])("%s is followed", (reference, found) => {
    expect(followReference(root, reference)).toEqual(found);
  });

  test("is written as it is read", () => {
    expect(pointerTo("/x", "b/c~/d~")).toBe("/x/b~1c~0~1d~0");
    expect(pointerTo("", 3)).toBe("/3");
  });

  test("of a schema whose own name is not used is followed by its pointer alone", async () => {
    const schema = { $id: "https://example.com/a", properties: { a: { $ref: "#/$defs/none" } } };
    expect(await check(schema, { a: 1 })).toEqual({
      issues: [],
      warnings: [
        "validated only in part: the reference #/$defs/none at /properties/a/$ref is outside the schema and is not fetched",
      ],
    });
  });
});

test("a text is cut only where it is longer than it may be", () => {
  expect([clip("abc", 3), clip("abcd", 3), clip("", 0)]).toEqual(["abc", "ab…", ""]);
});
