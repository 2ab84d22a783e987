import { inexactNumber } from "@fairlead/core/plain-text";
import { describe, expect, test } from "vitest";
import { coerce, listItemsOf, parseExactJson } from "../../src/arguments/coerce.ts";

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
    ["b", { type: "string", enum: ["a", "b"] }, value("b")],
    ["c", { type: "string", enum: ["a", "b"] }, mistake('must be one of a, b, not "c"; did you mean a?')],
    ["null", { type: ["string", "null"] }, value("null")],
    ["x", { anyOf: [{ enum: ["a"] }, { type: "string" }] }, value("x")],
    // What the schema does not say is text.
    ["5", undefined, value("5")],
    ["5", {}, value("5")],
    ["5", true, value("5")],
    ["5", { $ref: "#/$defs/count" }, value("5")],
    ["5", { $ref: "https://elsewhere.example/schema" }, value("5")],
    ["5", { anyOf: [{ type: "integer" }, {}] }, value("5")],
    // What it says elsewhere counts too.
    ["5", { $ref: "#/$defs/count", $defs: { count: { type: "integer" } } }, value(5)],
    ["5", { allOf: [{ description: "how many" }, { type: "integer" }] }, value(5)],
    ["5", { $ref: "#" }, value("5")],
    ["5", { type: "nonsense" }, value("5")],
    // Numbers.
    ["5", { type: "integer" }, value(5)],
    ["-5", { type: "integer" }, value(-5)],
    ["1e3", { type: "integer" }, value(1000)],
    ["1.5", { type: "number" }, value(1.5)],
    ["3", { enum: [1, 2, 3] }, value(3)],
    ["7", { const: 7 }, value(7)],
    ["1", { enum: [1, "one"] }, value(1)],
    ["one", { enum: [1, "one"] }, value("one")],
    ["2", { enum: [1, "one"] }, mistake('must be one of 1, one, not "2"; did you mean 1?')],
    ["null", { type: "number", nullable: true }, value(null)],
    ["-0", { type: "integer" }, value(-0)],
    ["1.5", { type: "integer" }, mistake('must be an integer, not "1.5"')],
    ["five", { type: "integer" }, mistake('must be an integer, not "five"')],
    ["", { type: "number" }, mistake('must be a number, not ""')],
    ["0x10", { type: "number" }, mistake('must be a number, not "0x10"')],
    ['"5"', { type: "number" }, mistake('must be a number, not "\\"5\\""')],
    // Digits are never lost in silence.
    ["9007199254740992", { type: "integer" }, value(9007199254740992)],
    [
      "9007199254740993",
      { type: "integer" },
      mistake("has a number that JavaScript cannot hold exactly: 9007199254740993"),
    ],
    ["1e400", { type: "number" }, mistake("has a number that JavaScript cannot hold exactly: 1e400")],
    [
      "[1, 12345678901234567890]",
      { type: "array" },
      mistake("has a number that JavaScript cannot hold exactly: 12345678901234567890"),
    ],
    ['["12345678901234567890"]', { type: "array" }, value(["12345678901234567890"])],
    // The rest.
    ["true", { type: "boolean" }, value(true)],
    ["yes", { type: "boolean" }, mistake('must be true or false, not "yes"')],
    ["1", { type: "boolean" }, mistake('must be true or false, not "1"')],
    ["null", { type: ["number", "null"] }, value(null)],
    ["x", { type: ["number", "null"] }, mistake('must be a number or null, not "x"')],
    ['["a"]', { type: "array" }, value(["a"])],
    ["a", { type: "array", items: { type: "string" } }, value(["a"])],
    ["5", { type: "array", items: { type: "integer" } }, value([5])],
    ["a", { type: "array", items: { type: "integer" } }, mistake('must be an integer, not "a"')],
    ["[a", { type: "array" }, mistake('must be a JSON array, not "[a"')],
    ["a,b", { type: "array" }, mistake('must be a JSON array, not "a,b"; repeat the argument for each value')],
    ['{"a":1}', { type: "object" }, value({ a: 1 })],
    ["[]", { type: "object" }, mistake('must be a JSON object, not "[]"')],
    ["2", { oneOf: [{ type: "boolean" }, { anyOf: [{ type: "integer" }] }] }, value(2)],
  ])("%j for %j", (text, schema, expected) => {
    expect(coerce(text, schema)).toEqual(expected);
  });

  test("of many choices, a few are shown", () => {
    const choices = Array.from({ length: 1000 }, (_, at) => `choice-${at}`);
    const reason = `must be one of ${choices.slice(0, 20).join(", ")}, …, not "none of them"`;
    expect(coerce("none of them", { enum: choices })).toEqual(mistake(reason));
  });

  test("alternatives that refer to each other end", () => {
    const loop = { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] };
    expect(coerce("5", { $ref: "#/$defs/a", $defs: { a: loop } })).toEqual(value("5"));
  });

  test("alternatives nested without end are not followed without end", () => {
    const nested = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ anyOf: [inner] }), { type: "integer" });
    expect(coerce("5", nested)).toEqual(value("5"));
  });
});

describe("JSON is read exactly", () => {
  const twice = (key: string) => mistake(`has the key "${key}" twice in one object`);

  test.each([
    ['{"a":1,"b":2}', value({ a: 1, b: 2 })],
    ['{"a":1,"a":2}', twice("a")],
    ['{"a":1,"\\u0061":2}', twice("a")],
    ['{"":1,"":2}', twice("")],
    ['[{"a":1},{"a":2}]', value([{ a: 1 }, { a: 2 }])],
    ['{"a":{"a":{"a":1}}}', value({ a: { a: { a: 1 } } })],
    ['{"a":{"b":1},"b":2}', value({ a: { b: 1 }, b: 2 })],
    ['{"a":{"b":1},"a":2}', twice("a")],
    ['{"x":{"b":1,"b":2}}', twice("b")],
    ['{"a":"}","a":2}', twice("a")],
    ['{"a":"{","b":2,"a":3}', twice("a")],
    ['{"a":"\\"","a":2}', twice("a")],
    [String.raw`{"a":"\\","a":2}`, twice("a")],
    ['{"a":"a:a","b":":"}', value({ a: "a:a", b: ":" })],
    ['"a:b"', value("a:b")],
    [
      '{"a":12345678901234567890,"a":1}',
      mistake("has a number that JavaScript cannot hold exactly: 12345678901234567890"),
    ],
  ])("%s", (text, expected) => {
    expect(parseExactJson(text)).toEqual(expected);
  });

  test("and text that is not JSON is a mistake", () => {
    expect(parseExactJson("{a}")).toEqual({ kind: "mistake", reason: expect.stringMatching(/^is not JSON: \S/) });
  });

  test.each([
    ["1e5", undefined],
    ["1.00000000000000000001", undefined],
    ["0000000000000000", undefined],
    ['"12345678901234567890" 1e400', "1e400"],
    ['["\\"12345678901234567890"]', undefined],
    ["[1e400, 1e500]", "1e400"],
    ["-12345678901234567890", "-12345678901234567890"],
  ])("the first number that would lose digits in %s is %s", (json, number) => {
    expect(inexactNumber(json)).toBe(number);
  });
});

describe("the types that a schema allows", () => {
  test("are those of the first list among its alternatives", () => {
    const first = { type: "array", items: { type: "integer" } };
    const second = { type: "array", items: { type: "boolean" } };
    const schema = { anyOf: [{ type: "null" }, { type: "array", enum: [[1]] }, first, second] };
    expect(listItemsOf(schema, schema)?.items).toEqual({ type: "integer" });
    expect(listItemsOf({ type: "string" }, {})).toBeUndefined();
    expect(coerce("5", schema)).toEqual(value([5]));
  });

  test("are named in the order of the alternatives", () => {
    const schema = { anyOf: [{ type: "boolean" }, { type: "integer" }] };
    expect(coerce("x", schema)).toEqual(mistake('must be true or false or an integer, not "x"'));
  });

  test.each([
    ["null", { enum: [1], nullable: true }, value(null)],
    ["null", { enum: [1] }, mistake('must be one of 1, not "null"')],
    ["2", { type: ["integer", "null"], enum: [1] }, mistake('must be one of 1, not "2"; did you mean 1?')],
    ['{"a":1}', { enum: [{ a: 1 }] }, value({ a: 1 })],
    ['{"a":2}', { enum: [{ a: 1 }] }, mistake('must be one of {"a":1}, not "{\\"a\\":2}"; did you mean {"a":1}?')],
    ["[1]", { enum: [[1]] }, value([1])],
  ])("%s for %j", (text, schema, expected) => {
    expect(coerce(text, schema)).toEqual(expected);
  });

  test("are read in at most eight levels of alternatives and two hundred schemas", () => {
    const nested = (levels: number) =>
      Array.from({ length: levels }).reduce<object>((inner) => ({ anyOf: [inner] }), { type: "integer" });
    expect([coerce("5", nested(8)), coerce("5", nested(9))]).toEqual([value(5), value("5")]);
    const all = (levels: number) =>
      Array.from({ length: levels }).reduce<object>((inner) => ({ allOf: [inner] }), { type: "integer" });
    expect([coerce("5", all(8)), coerce("5", all(9))]).toEqual([value(5), value("5")]);
    const wide = (schemas: number) => ({ anyOf: Array.from({ length: schemas }, () => ({ type: "integer" })) });
    expect([coerce("5", wide(199)), coerce("5", wide(200))]).toEqual([value(5), value("5")]);
  });

  test("are named with all their choices, if there are twenty", () => {
    const choices = Array.from({ length: 20 }, (_, at) => `choice-${at}`);
    expect(coerce("none of them", { enum: choices })).toEqual(
      mistake(`must be one of ${choices.join(", ")}, not "none of them"`),
    );
  });
});
