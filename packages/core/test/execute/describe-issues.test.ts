import { describe, expect, test } from "vitest";
import { describeIssues } from "../../src/execute/describe-issues.ts";
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
      '"city" is missing (did you mean it by "ctiy"?); "ctiy" is not a known property (did you mean "city"?)',
    ],
    [{ city: "Rome", weather: 1 }, '"weather" is not a known property'],
    [{ city: "Rome", days: "two" }, '"days" must be a number'],
    [
      { city: "Rome", stops: [{ name: "a" }, { nane: "b" }] },
      '"stops[1].name" is missing (did you mean it by "stops[1].nane"?)',
    ],
    [{ city: "Rome", stops: [{ name: 1 }] }, '"stops[0].name" must be a string'],
    ["Rome", "the arguments must be an object"],
  ])("%j", async (value, words) => {
    const { issues } = await createValidator().validate(schema, value);
    expect(describeIssues(issues, { schema, value, whole: "the arguments" })).toBe(words);
  });

  test("many are counted, names are cut, and neither a key nor a step is taken for something else", () => {
    const issue = (path: string): Issue => ({ path, message: "is missing", keyword: "required", params: {} });
    const issues = ["/a~1b~0c", "/__proto__/x", `/${"n".repeat(200)}`, "/d", "/e", "/f", "/g"].map(issue);
    expect(describeIssues(issues, { schema: {}, value: null, whole: "it" })).toBe(
      `"a/b~c" is missing; "__proto__.x" is missing; "${"n".repeat(99)}…" is missing; "d" is missing; "e" is missing; and 2 more`,
    );
  });
});
