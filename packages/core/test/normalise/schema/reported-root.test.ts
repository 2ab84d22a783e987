import { expect, test } from "vitest";
import { compiledOf, reportedOf } from "../../support/compiled.ts";

const told = "The Gemini API does not accept the keyword; the description says:";

test.each<readonly [raw: unknown, schema: unknown, repairs: readonly string[]]>([
  [{}, { type: "object", properties: {} }, ["added /type: Arguments are an object."]],
  [{ type: ["object", "null"] }, { type: "object", properties: {} }, ["rewritten /type: Arguments are an object."]],
  [
    { type: "object", enum: [{ a: 1 }, { a: 2 }] },
    { type: "object", description: 'Must be {"a":1} or {"a":2}.', properties: {} },
    [`moved /enum: ${told} Must be {"a":1} or {"a":2}.`],
  ],
  [
    { type: "object", minItems: 1 },
    { type: "object", properties: {} },
    ["removed /minItems: The keyword does not apply to: object."],
  ],
  ["x", { type: "object", properties: {} }, ['rewritten /: "x" is not the schema of an object.']],
])("the whole input schema %j is an object, and its repairs are reported", (raw, schema, repairs) => {
  const compiled = compiledOf(raw);
  expect(compiled.schema).toEqual(schema);
  expect(compiled.repairs.map((one) => `${one.action} ${one.path}/${one.keyword}: ${one.note}`)).toEqual(repairs);
});

test("a description of up to 4096 characters stays whole; a longer one leaves room for its notes", () => {
  const described = (length: number, more: object = {}) =>
    reportedOf({ type: "string", description: "d".repeat(length), ...more });
  expect(described(4096)).toEqual({ schema: { type: "string", description: "d".repeat(4096) }, repairs: [] });
  expect(described(4097)).toEqual({
    schema: { type: "string", description: `${"d".repeat(4095)}…` },
    repairs: ["rewritten /description: Cut to 4096 characters."],
  });
  const note = "At least 1 character.";
  expect(described(4074, { minLength: 1 })).toEqual({
    schema: { type: "string", description: `${"d".repeat(4074)}\n${note}` },
    repairs: [`moved /minLength: ${told} ${note}`],
  });
  expect(described(4075, { minLength: 1 })).toEqual({
    schema: { type: "string", description: `${"d".repeat(4073)}…\n${note}` },
    repairs: [`moved /minLength: ${told} ${note}`, "rewritten /description: Cut to 4074 characters."],
  });
});

test("a title of 256 characters stays whole, and null is offered once", () => {
  const titled = { type: "string", title: "t".repeat(256) };
  expect(reportedOf(titled)).toEqual({ schema: titled, repairs: [] });
  expect(reportedOf({ type: ["string", "null"], nullable: true }).schema).toEqual({
    anyOf: [{ type: "string" }, { type: "null" }],
  });
});
