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
