import type { ErrorObject } from "ajv";
import { expect, test } from "vitest";
import { toIssues } from "../../../src/execute/validation/describe-error.ts";

function error(keyword: string, params: object = {}, more: Partial<ErrorObject> = {}): ErrorObject {
  return { keyword, params: { ...params }, instancePath: "", schemaPath: "", parentSchema: {}, ...more };
}
const told = (...errors: readonly ErrorObject[]): unknown =>
  toIssues(errors).map(({ path, message }) => `${path} ${message}`.trim());

test.each<[string, ErrorObject, string]>([
  ["a keyword without words", error("custom"), 'does not satisfy "custom"'],
  ["a very long keyword", error("k".repeat(50)), `does not satisfy "${"k".repeat(39)}…"`],
  ["a type without words", error("type", { type: "text" }), "must be text"],
  ["the same type twice", error("type", { type: ["null", "null"] }), "must be null"],
  ["no type", error("type", { type: [] }), "must be something else"],
  ["values that are no list", error("enum", { allowedValues: "a" }), "is not one of:"],
  ["a long value", error("enum", { allowedValues: ["v".repeat(50), 7] }), `is not one of: ${"v".repeat(39)}…, 7`],
  ["a long constant", error("const", { allowedValue: "c".repeat(70) }), `must be "${"c".repeat(58)}…`],
  ["contains without a number", error("contains"), "must have at least 1 item matching the contains schema"],
  ["no form at all", error("anyOf"), "matches none of the allowed forms"],
  [
    "a missing name with signs",
    error("required", { missingProperty: "a/b" }, { instancePath: "/x" }),
    "/x/a~1b is missing",
  ],
  ["additional items", error("additionalItems", { limit: 1 }), "must have at most 1 item"],
])("%s", (_, given, message) => {
  expect(told(given)).toEqual([message]);
});

test("errors that another one describes better are left out", () => {
  expect(told(error("if"), error("oneOf"), error("maxLength", { limit: 1 }, { propertyName: "abc" }))).toEqual([]);
  expect(told(error("propertyNames", { propertyName: "abc" }, { propertyName: "abc" }))).toEqual([
    'has a property whose name is not allowed: "abc"',
  ]);
  expect(told(error("oneOf", { passingSchemas: null }))).toEqual(["matches none of the allowed forms"]);
  expect(told(error("oneOf", { passingSchemas: [0, 1] }))).toEqual([
    "matches more than one of the allowed forms and must match exactly one",
  ]);
});

test("a form takes the errors below its own place, and not those of places that begin alike or of its own schema", () => {
  const parentSchema = {};
  const minimum = (instancePath: string, more: Partial<ErrorObject> = {}) =>
    error("minimum", { limit: 1 }, { instancePath, ...more });
  expect(told(minimum("/ab"), minimum("/a/b"), minimum("/a"), error("anyOf", {}, { instancePath: "/a" }))).toEqual([
    "/ab must be at least 1",
    "/a matches none of the allowed forms (/b must be at least 1; must be at least 1)",
  ]);
  expect(
    told(minimum("/a", { parentSchema }), minimum("/a"), error("anyOf", {}, { instancePath: "/a", parentSchema })),
  ).toEqual(["/a must be at least 1", "/a matches none of the allowed forms (must be at least 1)"]);
});

test("twenty issues are told, each once, of the first thousand errors", () => {
  const missing = (name: number): ErrorObject => error("required", { missingProperty: String(name) });
  const many = Array.from({ length: 25 }, (_, at) => missing(at));
  expect(told(...many, ...many)).toEqual(many.slice(0, 20).map((_, at) => `/${at} is missing`));
  const same = Array.from({ length: 999 }, () => missing(0));
  expect(told(...same, missing(1), missing(2))).toEqual(["/0 is missing", "/1 is missing"]);
});

test("an issue carries its keyword and its parameters, cut where they are long", () => {
  const params = { text: "t".repeat(1001), list: Array.from({ length: 101 }, (_, at) => at), other: 7 };
  expect(toIssues([error("custom", params, { instancePath: `/${"p".repeat(1000)}` })])).toEqual([
    {
      path: `/${"p".repeat(998)}…`,
      message: 'does not satisfy "custom"',
      keyword: "custom",
      params: { text: `${"t".repeat(999)}…`, list: params.list.slice(0, 100), other: 7 },
    },
  ]);
});

test.each<[string, object, string]>([
  ["required", { missingProperty: "p" }, "/p is missing"],
  ["additionalProperties", { additionalProperty: "p" }, "/p is not a known property"],
  ["unevaluatedProperties", { unevaluatedProperty: "p" }, "/p is not a known property"],
  ["type", { type: "array" }, "must be an array"],
  ["type", { type: "boolean" }, "must be true or false"],
  ["type", { type: "integer" }, "must be an integer"],
  ["type", { type: "null" }, "must be null"],
  ["type", { type: "number" }, "must be a number"],
  ["type", { type: "object" }, "must be an object"],
  ["type", { type: ["string", "integer", "null"] }, "must be a string, an integer or null"],
  ["enum", { allowedValues: ["a", 1] }, "is not one of: a, 1"],
  [
    "enum",
    { allowedValues: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
    "is not one of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (11 in all)",
  ],
  ["const", { allowedValue: { a: 1 } }, 'must be {"a":1}'],
  ["minimum", { limit: 2 }, "must be at least 2"],
  ["maximum", { limit: 2 }, "must be at most 2"],
  ["exclusiveMinimum", { limit: 2 }, "must be more than 2"],
  ["exclusiveMaximum", { limit: 2 }, "must be less than 2"],
  ["multipleOf", { multipleOf: 3 }, "must be a multiple of 3"],
  ["minLength", { limit: 1 }, "must have at least 1 character"],
  ["maxLength", { limit: 2 }, "must have at most 2 characters"],
  ["pattern", { pattern: "^a$" }, "must match the pattern ^a$"],
  ["minItems", { limit: 1 }, "must have at least 1 item"],
  ["maxItems", { limit: 0 }, "must have at most 0 items"],
  ["items", { limit: 2 }, "must have at most 2 items"],
  ["additionalItems", { limit: 2 }, "must have at most 2 items"],
  ["unevaluatedItems", { limit: 1 }, "must have at most 1 item"],
  ["uniqueItems", { i: 3, j: 1 }, "must not have the same item twice (at indexes 1 and 3)"],
  ["contains", { minContains: 2 }, "must have at least 2 items matching the contains schema"],
  ["minProperties", { limit: 1 }, "must have at least 1 property"],
  ["maxProperties", { limit: 2 }, "must have at most 2 properties"],
  ["propertyNames", { propertyName: "n" }, 'has a property whose name is not allowed: "n"'],
  ["dependencies", { property: "a", deps: "b, c" }, 'needs b, c as well, because "a" is given'],
  ["dependentRequired", { property: "a", deps: "b" }, 'needs b as well, because "a" is given'],
  ["not", {}, 'must not match the schema in "not"'],
  ["false schema", {}, "is not allowed"],
])("the user reads what the keyword %s with %j wants", (keyword, params, message) => {
  expect(told(error(keyword, params))).toEqual([message]);
});

test.each(["anyOf", "oneOf", "contains", "not"])("the errors inside %s are not told one by one", (keyword) => {
  const inner = [error("type", { type: "string" }), error("type", { type: "null" })];
  const outer = error(keyword, keyword === "oneOf" ? { passingSchemas: null } : { minContains: 1 });
  const messages: Readonly<Record<string, string>> = {
    anyOf: "must be a string or null",
    oneOf: "must be a string or null",
    contains: "must have at least 1 item matching the contains schema",
    not: 'must not match the schema in "not"',
  };
  expect(told(...inner, outer)).toEqual([messages[keyword]]);
  const other = error("minimum", { limit: 1 });
  expect(told(error("type", { type: "string" }), other, error("anyOf"))).toEqual([
    "matches none of the allowed forms (must be a string; must be at least 1)",
  ]);
});
