import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { checkParameterNames } from "../../src/arguments/arguments.ts";

const properties = { language: { type: "string" }, message: { type: "string" }, count: { type: "number" } };
const closed = { type: "object", properties, additionalProperties: false };

/** The warnings, or the message of the error. */
function outcome(inputSchema: JsonObject, args: unknown): readonly string[] | string {
  try {
    return checkParameterNames("s.t", { serverToolName: "t", inputSchema }, args);
  } catch (error) {
    return (error as Error).message;
  }
}

test.each<readonly [string, JsonObject, unknown, readonly string[] | string]>([
  ["names of the schema", { properties }, { language: "en", count: 1 }, []],
  ["no object", { properties, required: ["count"] }, ["count"], []],
  ["an unknown name", { properties }, { zzz: 1 }, ['s.t has no parameter "zzz"; Fairlead sends the argument anyway']],
  [
    "a mistyped name and two abbreviations",
    { properties },
    { massage: "x", lang: "en", cnt: 1 },
    [
      's.t has no parameter "massage" (did you mean "message"?); Fairlead sends the argument anyway',
      's.t has no parameter "lang" (did you mean "language"?); Fairlead sends the argument anyway',
      's.t has no parameter "cnt" (did you mean "count"?); Fairlead sends the argument anyway',
    ],
  ],
  ["one letter", { properties }, { l: 1 }, ['s.t has no parameter "l"; Fairlead sends the argument anyway']],
  ["a forbidden name", closed, { msg: 1 }, 's.t has no parameter "msg"; did you mean "message"?'],
  ["two forbidden names", closed, { zzz: 1, yyy: 2 }, 's.t has no parameter "zzz", "yyy"'],
  [
    "a name that is forbidden by unevaluatedProperties",
    { properties, unevaluatedProperties: false },
    { zzz: 1 },
    's.t has no parameter "zzz"',
  ],
  ["a name that allOf may allow", { ...closed, allOf: [{}] }, { zzz: 1 }, []],
  ["a name that a pattern may allow", { ...closed, patternProperties: { "^z": {} } }, { zzz: 1 }, []],
  ["a name that anyOf may declare", { properties, anyOf: [{}] }, { zzz: 1 }, []],
  ["a name that oneOf may declare", { properties, oneOf: [{}] }, { zzz: 1 }, []],
  [
    "two mistyped names: the suggestion is for the first",
    closed,
    { masage: 1, languag: 2 },
    's.t has no parameter "masage", "languag"; did you mean "message"?',
  ],
  [
    "an abbreviation of several names, the first of which is meant",
    { properties: { locale: {}, location: {}, sort: {}, start: {} } },
    { loc: 1, srt: 1, cation: 1 },
    [
      's.t has no parameter "loc" (did you mean "locale"?); Fairlead sends the argument anyway',
      's.t has no parameter "srt" (did you mean "sort"?); Fairlead sends the argument anyway',
      's.t has no parameter "cation" (did you mean "location"?); Fairlead sends the argument anyway',
    ],
  ],
  ["a name that is welcome", { properties, additionalProperties: true }, { zzz: 1 }, []],
  ["a name, if the schema declares none", { type: "object" }, { zzz: 1 }, []],
  ["missing names", { properties, required: ["message", "count"] }, {}, 's.t needs "message", "count"'],
  [
    "a missing name and a mistyped one",
    { properties, required: ["count"] },
    { cuont: 1 },
    's.t needs "count"; it has no parameter "cuont"; did you mean "count"?',
  ],
  [
    "a missing name and one that is welcome",
    { properties, required: ["count"], additionalProperties: true },
    { cuont: 1 },
    's.t needs "count"',
  ],
])("%s", (_, schema, args, expected) => {
  expect(outcome(schema, args)).toEqual(expected);
});
