import { expect, test } from "vitest";
import { fits } from "../../../src/normalise/schema/keywords.ts";

test.each([
  [["enum", "allOf", "anyOf", "oneOf", "prefixItems"], [[{}]], [[], {}, "x"]],
  [["examples"], [[]], [{}]],
  [
    ["title", "description", "format", "pattern", "$ref", "$schema"],
    ["", "x"],
    [1, {}, []],
  ],
  [
    ["minimum", "maximum", "multipleOf"],
    [0, -1.5],
    ["1", true],
  ],
  [
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxContains"],
    [0, 3],
    [-1, 1.5, "1"],
  ],
  [
    ["uniqueItems", "deprecated", "readOnly", "writeOnly"],
    [true, false],
    [1, "true"],
  ],
  [["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"], [{}], [[], "x", true]],
  [
    ["additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"],
    [{}, true, false],
    [[], "x"],
  ],
  [["items"], [{}, [], true], ["x", 1]],
  [
    ["exclusiveMinimum", "exclusiveMaximum"],
    [1, true],
    ["1", []],
  ],
  [["type"], ["string", ["string", "null"]], [[], 1, {}]],
  [["required"], [[], ["a", "b"]], [["a", "a"], [1], "a", true]],
  [["default", "x-unknown"], [null, 1, []], []],
])("values of %j", (keywords, good, bad) => {
  for (const keyword of keywords) {
    expect(good.map((value) => fits(keyword, value))).toEqual(good.map(() => true));
    expect(bad.map((value) => fits(keyword, value))).toEqual(bad.map(() => false));
  }
});
