import { describe, expect, test } from "vitest";
import { describeIssues } from "../../src/execute/check-values.ts";
import type { Issue } from "../../src/execute/validation/validation.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";

const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "number" },
    stops: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  },
  required: ["city"],
  additionalProperties: false,
};

describe("what is wrong with a value", () => {
  test.each<[unknown, string]>([
    [{}, '"city" is missing'],
    [
      { ctiy: "Rome" },
      '"city" is missing (did you misspell it as "ctiy"?); "ctiy" is not a known property (did you mean "city"?)',
    ],
    [{ city: "Rome", weather: 1 }, '"weather" is not a known property'],
    [{ city: "Rome", days: "two" }, '"days" must be a number'],
    [
      { city: "Rome", stops: [{ name: "a" }, { nane: "b" }] },
      '"stops[1].name" is missing (did you misspell it as "stops[1].nane"?)',
    ],
    [{ city: "Rome", stops: [{ name: 1 }] }, '"stops[0].name" must be a string'],
    ["Rome", "the arguments must be an object"],
  ])("%j", async (value, words) => {
    const { issues } = await createValidator().validate(schema, value);
    expect(describeIssues(issues, { schema, value, whole: "the arguments" })).toBe(words);
  });

  test("five are told one by one, and a name of a hundred characters is whole", () => {
    const issue = (path: string): Issue => ({ path, message: "is missing", keyword: "required", params: {} });
    const issues = [`/${"n".repeat(100)}`, "/b", "/c", "/d", "/e"].map(issue);
    expect(describeIssues(issues, { schema: {}, value: {}, whole: "it" })).toBe(
      `"${"n".repeat(100)}" is missing; "b" is missing; "c" is missing; "d" is missing; "e" is missing`,
    );
  });

  test("what is not evaluated is compared with what is known, and what is neither is not guessed at", () => {
    const known = { properties: { city: {}, list: { items: { properties: { name: {} } } }, "": {} } };
    const issue = (path: string, keyword: string): Issue => ({ path, message: "is odd", keyword, params: {} });
    const tell = (path: string, keyword: string, value: unknown = {}): string =>
      describeIssues([issue(path, keyword)], { schema: known, value, whole: "it" });
    expect(tell("/ctiy", "unevaluatedProperties")).toBe('"ctiy" is odd (did you mean "city"?)');
    expect(tell("/list/0/nmae", "additionalProperties")).toBe('"list[0].nmae" is odd (did you mean "list[0].name"?)');
    expect(tell("/ctiy", "type")).toBe('"ctiy" is odd');
    // A name that is known cannot have been meant to be another one.
    expect(tell("/town", "required", { city: 1 })).toBe('"town" is odd');
    expect(tell("/list/1/name", "required", { list: [{}, { nmae: 1 }] })).toBe(
      '"list[1].name" is odd (did you misspell it as "list[1].nmae"?)',
    );
    expect(tell("/a/name", "required", { a: null })).toBe('"a.name" is odd');
  });

  test("many are counted, names are cut, and neither a key nor a step is taken for something else", () => {
    const issue = (path: string): Issue => ({ path, message: "is missing", keyword: "required", params: {} });
    const issues = ["/a~1b~0c", "/__proto__/x", `/${"n".repeat(200)}`, "/d", "/e", "/f", "/g"].map(issue);
    expect(describeIssues(issues, { schema: {}, value: null, whole: "it" })).toBe(
      `"a/b~c" is missing; "__proto__.x" is missing; "${"n".repeat(99)}…" is missing; "d" is missing; "e" is missing; and 2 more`,
    );
  });
});
