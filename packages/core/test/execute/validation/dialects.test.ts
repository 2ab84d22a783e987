import type { JsonObject } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createValidator } from "../../../src/execute/validation/validator.ts";

// Whatever the machine is busy with: none of these is slow.
const validator = createValidator({ timeLimit: 60_000 });
// Costly schemas are checked in a thread: it starts here, because all tests of this file share it.
beforeAll(async () => void (await validator.validate({ $dynamicRef: "#" }, {})));
afterAll(() => validator.close());

const draft07 = "http://json-schema.org/draft-07/schema#";
const draft06 = "http://json-schema.org/draft-06/schema#";
const draft04 = "http://json-schema.org/draft-04/schema#";
const of2019 = "https://json-schema.org/draft/2019-09/schema";
const of2020 = "https://json-schema.org/draft/2020-12/schema";

/** One line per issue, as a person would read it. */
async function issues(schema: JsonObject, value: unknown): Promise<readonly string[]> {
  const validation = await validator.validate(schema, value);
  expect(validation.warnings).toEqual([]);
  return validation.issues.map(({ path, message }) => `${path} ${message}`.trim());
}

describe("what every dialect says alike", () => {
  const cases: readonly [JsonObject, unknown, readonly string[]][] = [
    [{ type: "object", required: ["a"] }, {}, ["/a is missing"]],
    [{ properties: { a: { type: "number" } } }, { a: "1" }, ["/a must be a number"]],
    [{ type: ["string", "null"] }, 1, ["must be a string or null"]],
    [{ type: "integer" }, 1.5, ["must be an integer"]],
    [{ type: "integer" }, 1.0, []],
    [{ enum: ["a", "b", 3] }, "c", ["is not one of: a, b, 3"]],
    [{ const: { a: 1 } }, { a: 2 }, ['must be {"a":1}']],
    [{ minimum: 1, exclusiveMaximum: 3 }, 3, ["must be less than 3"]],
    [{ maximum: 1, exclusiveMinimum: 3 }, 3, ["must be at most 1", "must be more than 3"]],
    [{ multipleOf: 0.5 }, 0.7, ["must be a multiple of 0.5"]],
    [{ minLength: 2 }, "😀", ["must have at least 2 characters"]],
    [{ maxLength: 1 }, "ab", ["must have at most 1 character"]],
    [{ minItems: 1 }, [], ["must have at least 1 item"]],
    [{ uniqueItems: true }, [{ a: 1 }, { a: 1 }], ["must not have the same item twice (at indexes 0 and 1)"]],
    [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, ["/b is not a known property"]],
    [{ additionalProperties: { type: "string" } }, { "a/b~c": 1 }, ["/a~1b~0c must be a string"]],
    [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, ['has a property whose name is not allowed: "abc"']],
    [{ minProperties: 1 }, {}, ["must have at least 1 property"]],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, ['needs b as well, because "a" is given']],
    [{ not: { type: "string" } }, "x", ['must not match the schema in "not"']],
    [{ contains: { type: "string" } }, [1], ["must have at least 1 item matching the contains schema"]],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, ["must be a string or null"]],
    [{ type: "string", anyOf: [{ minLength: 3 }, { pattern: "^x" }] }, 1, ["must be a string"]],
    [{ allOf: [{ minimum: 3 }, { minimum: 3 }] }, 1, ["must be at least 3"]],
    [
      { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      ["matches none of the allowed forms (/a is missing; /b is missing)"],
    ],
    [
      { oneOf: [{ type: "number" }, { type: "integer" }] },
      1,
      ["matches more than one of the allowed forms and must match exactly one"],
    ],
    [
      {
        anyOf: [{ $ref: "#/definitions/a" }, { $ref: "#/definitions/b" }],
        definitions: { a: { type: "string" }, b: { type: "array" } },
      },
      {},
      ["must be a string or an array"],
    ],
    [JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'), { a: 1 }, ["/b is missing"]],
    [{ items: false }, [1], ["/0 is not allowed"]],
    // A format is an annotation: whatever a server means by it.
    [{ format: "email" }, "not an address", []],
    [{ format: "made-up" }, "x", []],
    [{ type: "string", nullable: true }, null, []],
    [{ "x-private": { type: "string" }, example: 3 }, 1, []],
  ];
  test.each([of2020, draft07, draft06, of2019, draft04, undefined])("%s", async ($schema) => {
    for (const [schema, value, expected] of cases)
      expect([schema, await issues($schema === undefined ? schema : { $schema, ...schema }, value)]).toEqual([
        schema,
        expected,
      ]);
  });
});

describe("what the dialects say differently", () => {
  const tuple = { items: [{ type: "string" }], additionalItems: false };
  const prefix = { prefixItems: [{ type: "string" }], items: false };
  const beside = { $ref: "#/definitions/a", maxLength: 1, definitions: { a: { type: "string" } } };
  const dependent = { dependentRequired: { a: ["b"] } };
  test.each<[string, string | undefined, JsonObject, unknown, readonly string[]]>([
    ["prefixItems", of2020, prefix, [1, 2], ["/0 must be a string", "must have at most 1 item"]],
    ["prefixItems without $schema", undefined, prefix, [1], ["/0 must be a string"]],
    ["prefixItems is unknown to draft-07", draft07, { prefixItems: [{ type: "string" }] }, [1], []],
    ["a tuple", draft07, tuple, [1, 2], ["must have at most 1 item", "/0 must be a string"]],
    ["a tuple", draft04, tuple, [1], ["/0 must be a string"]],
    ["a tuple", of2019, tuple, [1, 2], ["/0 must be a string", "must have at most 1 item"]],
    ["a tuple where no dialect is named", undefined, tuple, [1], ["/0 must be a string"]],
    ["a reference has siblings", of2020, beside, "ab", ["must have at most 1 character"]],
    ["a reference stands alone", draft07, beside, "ab", []],
    ["and still counts", draft07, beside, 1, ["must be a string"]],
    ["dependentRequired", of2020, dependent, { a: 1 }, ['needs b as well, because "a" is given']],
    ["dependentRequired is unknown to draft-07", draft07, dependent, { a: 1 }, []],
    [
      "unevaluatedProperties",
      of2020,
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      ["/b is not a known property"],
    ],
    [
      "minContains",
      of2020,
      { contains: { type: "string" }, minContains: 2 },
      ["a"],
      ["must have at least 2 items matching the contains schema"],
    ],
    ["a boolean exclusiveMinimum", draft04, { minimum: 1, exclusiveMinimum: true }, 1, ["must be more than 1"]],
    ["a boolean exclusiveMaximum that is false", draft04, { maximum: 1, exclusiveMaximum: false }, 1, []],
    ["id", draft04, { id: "http://example.com/a", type: "string" }, 1, ["must be a string"]],
    [
      "$dynamicRef",
      of2020,
      { $dynamicAnchor: "node", properties: { next: { $dynamicRef: "#node" } }, type: "object" },
      { next: 1 },
      ["/next must be an object"],
    ],
    [
      "$recursiveRef",
      of2019,
      { type: "object", properties: { next: { $recursiveRef: "#" } } },
      { next: 1 },
      ["/next must be an object"],
    ],
    [
      "$anchor",
      of2020,
      { properties: { a: { $ref: "#text" } }, $defs: { t: { $anchor: "text", type: "string" } } },
      { a: 1 },
      ["/a must be a string"],
    ],
    [
      "$id",
      of2020,
      {
        $id: "https://example.com/s",
        properties: { a: { $ref: "https://example.com/s#/$defs/t" } },
        $defs: { t: { type: "string" } },
      },
      { a: 1 },
      ["/a must be a string"],
    ],
  ])("%s (%s)", async (_, $schema, schema, value, expected) => {
    expect(await issues($schema === undefined ? schema : { $schema, ...schema }, value)).toEqual(expected);
  });
});

test("a dialect that is not known is read as 2020-12, and said", async () => {
  const schema = { $schema: "urn:example:my-own", prefixItems: [{ type: "string" }] };
  expect(await validator.validate(schema, [1])).toEqual({
    issues: [{ path: "/0", message: "must be a string", keyword: "type", params: { type: "string" } }],
    warnings: ["its schema is written for urn:example:my-own, an unknown dialect; it was read as JSON Schema 2020-12"],
  });
});
