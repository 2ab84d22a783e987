import { describe, expect, test } from "vitest";
import { coerce } from "../src/coerce.ts";

const value = (value: unknown) => ({ kind: "value", value });
const mistake = (reason: string) => ({ kind: "mistake", reason });

describe("text becomes what the schema asks for, or a named mistake", () => {
  test.each([
    // A string stays as it was typed, whatever it looks like.
    ["007", { type: "string" }, value("007")],
    ["true", { type: "string" }, value("true")],
    ["", { type: "string" }, value("")],
    ["5", { type: ["integer", "string"] }, value("5")],
    ["5", { anyOf: [{ type: "integer" }, { type: "string" }] }, value("5")],
    ["b", { enum: ["a", "b"] }, value("b")],
    // What the schema does not say is text.
    ["5", undefined, value("5")],
    ["5", {}, value("5")],
    ["5", true, value("5")],
    ["5", { $ref: "#/$defs/count" }, value("5")],
    ["5", { type: "nonsense" }, value("5")],
    // Numbers.
    ["5", { type: "integer" }, value(5)],
    ["-5", { type: "integer" }, value(-5)],
    ["1e3", { type: "integer" }, value(1000)],
    ["1.5", { type: "number" }, value(1.5)],
    ["3", { enum: [1, 2, 3] }, value(3)],
    ["7", { const: 7 }, value(7)],
    ["1.5", { type: "integer" }, mistake('must be an integer, not "1.5"')],
    ["five", { type: "integer" }, mistake('must be an integer, not "five"')],
    ["", { type: "number" }, mistake('must be a number, not ""')],
    ["0x10", { type: "number" }, mistake('must be a number, not "0x10"')],
    ['"5"', { type: "number" }, mistake('must be a number, not "\\"5\\""')],
    ["9007199254740993", { type: "integer" }, mistake("is too large to be kept exactly: 9007199254740993")],
    // The rest.
    ["true", { type: "boolean" }, value(true)],
    ["yes", { type: "boolean" }, mistake('must be true or false, not "yes"')],
    ["1", { type: "boolean" }, mistake('must be true or false, not "1"')],
    ["null", { type: ["number", "null"] }, value(null)],
    ["x", { type: ["number", "null"] }, mistake('must be a number or null, not "x"')],
    ['["a"]', { type: "array" }, value(["a"])],
    ["a,b", { type: "array" }, mistake('must be a JSON array, not "a,b"')],
    ['{"a":1}', { type: "object" }, value({ a: 1 })],
    ["[]", { type: "object" }, mistake('must be a JSON object, not "[]"')],
    ["2", { oneOf: [{ type: "boolean" }, { anyOf: [{ type: "integer" }] }] }, value(2)],
  ])("%j for %j", (text, schema, expected) => {
    expect(coerce(text, schema)).toEqual(expected);
  });

  test("alternatives nested without end are not followed without end", () => {
    const nested = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ anyOf: [inner] }), { type: "integer" });
    expect(coerce("5", nested)).toEqual(value("5"));
  });
});
