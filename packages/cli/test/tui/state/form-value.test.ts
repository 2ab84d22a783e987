import { fieldsOf } from "@fairlead/console/form/form-field";
import { describe, expect, test } from "vitest";
import { emptyEditor, insert } from "../../../src/tui/input/editor.ts";
import { type FieldEntry, fieldValue } from "../../../src/tui/state/form-value.ts";

/** The value of the only field of a form, after this entry. */
function outcomeOf(schema: object, entry: FieldEntry, required: readonly string[] = []): unknown {
  const [field] = fieldsOf({ type: "object", properties: { field: schema }, required });
  return field && fieldValue(field, entry);
}

const typed = (text: string): FieldEntry => ({ kind: "typed", editor: insert(emptyEditor, text) });
const value = (found: unknown) => ({ kind: "value", value: found }) as const;
const problem = (words: string) => ({ kind: "problem", problem: words }) as const;
const nothing = { kind: "nothing" } as const;

describe("text", () => {
  const email = problem("must be an email address, like name@example.org");
  const uri = problem("must be an address, like https://example.org/page");
  const date = problem("must be a date, like 2026-11-30");
  const time = problem("must be a date and a time, like 2026-11-30T18:05:00Z");
  test.each<[schema: object, text: string, outcome: unknown]>([
    [{ minLength: 3 }, "ab", problem("must have at least 3 characters, not 2")],
    [{ minLength: 3 }, "abc", value("abc")],
    [{ maxLength: 3 }, "abc", value("abc")],
    [{ maxLength: 3 }, "abcd", problem("must have at most 3 characters, not 4")],
    [{ format: "email" }, "a@b", value("a@b")],
    [{ format: "email" }, "a.b", email],
    [{ format: "email" }, "a@b@c", email],
    [{ format: "uri" }, "mailto:a@b", value("mailto:a@b")],
    [{ format: "uri" }, "/page", uri],
    [{ format: "uri" }, "http://", uri],
    [{ format: "date" }, "2026-11-30", value("2026-11-30")],
    [{ format: "date" }, "2026-13-01", date],
    [{ format: "date" }, "2026-11-3", date],
    [{ format: "date" }, "2026-11-30T18:05:00Z", date],
    [{ format: "date-time" }, "2026-11-30T23:59:60Z", value("2026-11-30T23:59:60Z")],
    [{ format: "date-time" }, "2026-11-30 00:00:00.5z", value("2026-11-30 00:00:00.5z")],
    [{ format: "date-time" }, "2026-11-30T24:00:00Z", time],
    [{ format: "date-time" }, "2026-11-30T23:60:00Z", time],
    [{ format: "date-time" }, "2026-11-30T23:59:61Z", time],
    [{ format: "date-time" }, "2026-02-30T12:00:00Z", time],
    [{ format: "date-time" }, "2026-11-30", time],
    [{ format: "hostname" }, "any text", value("any text")],
  ])("with %j, %j", (schema, text, outcome) => {
    expect(outcomeOf({ type: "string", ...schema }, typed(text))).toEqual(outcome);
  });
});

test.each<[schema: object, text: string, outcome: unknown]>([
  [{ type: "number", minimum: 2 }, "1.99", problem("must be 2 or more")],
  [{ type: "number", minimum: 2 }, "2", value(2)],
  [{ type: "number", maximum: 2 }, "2", value(2)],
  [{ type: "number", maximum: 2 }, "2.01", problem("must be 2 or less")],
  [{ type: "number" }, "-1e3", value(-1000)],
  [{ type: "number" }, "Infinity", problem("must be a number")],
  [{ type: "integer" }, "2.0", value(2)],
  [{ type: "integer" }, "2.5", problem("must be a whole number")],
  [{ type: "integer" }, "two", problem("must be a whole number")],
  [{ type: "integer" }, "9007199254740993", problem("is a number that cannot be sent exactly")],
])("a number of %j from %j", (schema, text, outcome) => {
  expect(outcomeOf(schema, typed(text))).toEqual(outcome);
});

test.each<[limits: object, chosen: readonly number[], isTouched: boolean, outcome: unknown]>([
  [{}, [], false, nothing],
  [{}, [], true, value([])],
  [{}, [2, 0], false, value(["a", "c"])],
  [{ minItems: 1 }, [], false, nothing],
  [{ minItems: 1 }, [], true, problem("must have at least 1 selected")],
  [{ minItems: 1 }, [1], true, value(["b"])],
  [{ maxItems: 1 }, [1], true, value(["b"])],
  [{ maxItems: 1 }, [1, 2], true, problem("must have at most 1 selected")],
])("with %j, the choices %j (touched: %j)", (limits, chosen, isTouched, outcome) => {
  const entry = { kind: "several", chosen: new Set(chosen), at: 0, isTouched } as const;
  expect(outcomeOf({ type: "array", items: { enum: ["a", "b", "c"] }, ...limits }, entry)).toEqual(outcome);
});

test.each<[what: string, schema: object, entry: FieldEntry, required: readonly string[], outcome: unknown]>([
  ["an optional field", { type: "string" }, typed(""), [], nothing],
  ["a required field", { type: "string" }, typed(""), ["field"], problem("is required")],
  ["a required field with a default", { type: "string", default: "x" }, typed(""), ["field"], nothing],
  ["a choice", { enum: ["a", "b"] }, { kind: "chosen" }, [], nothing],
  ["a required choice", { enum: ["a", "b"] }, { kind: "chosen" }, ["field"], problem("is required")],
  ["a switch", { type: "boolean" }, { kind: "switched" }, [], nothing],
])("%s that is left empty", (_, schema, entry, required, outcome) => {
  expect(outcomeOf(schema, entry, required)).toEqual(outcome);
});

test("an entry of another kind than the field's input is not a value", () => {
  const entries: readonly FieldEntry[] = [
    { kind: "chosen", at: 0 },
    { kind: "several", chosen: new Set([0]), at: 0, isTouched: true },
  ];
  expect(entries.map((entry) => outcomeOf({ type: "string" }, entry))).toEqual([nothing, nothing]);
  const others = [{ type: "boolean" }, { enum: ["a"] }, { type: "array", items: { enum: ["a"] } }];
  expect(others.map((schema) => outcomeOf(schema, typed("a")))).toEqual([nothing, nothing, nothing]);
});

test("the last choice and a switch that is off are values", () => {
  expect(outcomeOf({ enum: ["a", "b"] }, { kind: "chosen", at: 1 })).toEqual(value("b"));
  expect(outcomeOf({ enum: ["a", "b"] }, { kind: "chosen", at: 2 })).toEqual(nothing);
  expect(outcomeOf({ type: "boolean" }, { kind: "switched", isOn: false }, ["field"])).toEqual(value(false));
});
