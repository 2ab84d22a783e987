import { expect, test } from "vitest";
import { typesIn } from "../../../../src/normalise/schema/read/read-values.ts";

test.each([
  ["string", ["string"]],
  ["number", ["number"]],
  ["integer", ["integer"]],
  ["boolean", ["boolean"]],
  ["object", ["object"]],
  ["array", ["array"]],
  ["null", ["null"]],
  ["str", ["string"]],
  ["text", ["string"]],
  ["int", ["integer"]],
  ["long", ["integer"]],
  ["float", ["number"]],
  ["double", ["number"]],
  ["bool", ["boolean"]],
  ["dict", ["object"]],
  ["list", ["array"]],
  ["any", []],
  ["BOOL", ["boolean"]],
  ["STRING", ["string"]],
  [
    ["int", "null"],
    ["integer", "null"],
  ],
])("the type written as %j is read as %j", (written, types) => {
  expect(typesIn(written)).toEqual(types);
});
