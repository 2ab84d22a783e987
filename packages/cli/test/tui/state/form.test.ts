import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { type FormState, formKey, formValues, openForm } from "../../../src/tui/state/form.ts";

const enter: Key = { name: "enter" };
const down: Key = { name: "down" };
const tab: Key = { name: "tab" };
const right: Key = { name: "right" };
const space: Key = { name: "text", text: " " };
const typed = (text: string): Key => ({ name: "text", text });

const form = (properties: object, required: readonly string[] = []): FormState =>
  openForm({ type: "object", properties, required });

/** The state after these keys; none of them may be an answer. */
function after(state: FormState, ...keys: readonly Key[]): FormState {
  return keys.reduce((now, key) => {
    const step = formKey(now, key);
    if ("answer" in step) throw new Error(`answered with ${JSON.stringify(step.answer)}`);
    return step.state;
  }, state);
}

const problemsOf = (state: FormState): readonly string[] => {
  const found = formValues(state);
  return found.kind === "problems" ? [...found.problems.values()] : [];
};
const valuesOf = (state: FormState): unknown => {
  const found = formValues(state);
  return found.kind === "values" ? found.values : found;
};

describe("a field takes what its schema says", () => {
  const string = { type: "string" };
  const cases: readonly [what: string, schema: object, text: string, outcome: unknown][] = [
    ["text", string, "a b", "a b"],
    ["a number", { type: "number" }, " 1.5 ", 1.5],
    ["an integer", { type: "integer" }, "-3", -3],
    ["an integer with a fraction", { type: "integer" }, "3.5", /must be a whole number/],
    ["a number that is none", { type: "number" }, "0x10", /must be a number/],
    ["a number that is not kept exactly", { type: "integer" }, "12345678901234567890", /cannot be sent exactly/],
    ["a number that is too small", { type: "number", minimum: 2 }, "1", /must be 2 or more/],
    ["a number that is too large", { type: "number", maximum: 2 }, "3", /must be 2 or less/],
    ["text that is too short", { ...string, minLength: 3 }, "ab", /at least 3 characters, not 2/],
    ["text that is too long, in characters and not in code units", { ...string, maxLength: 2 }, "🎉🎉", "🎉🎉"],
    ["an email address", { ...string, format: "email" }, "a@b.example", "a@b.example"],
    ["no email address", { ...string, format: "email" }, "a b@c", /must be an email address/],
    ["an address", { ...string, format: "uri" }, "https://example.org/x", "https://example.org/x"],
    ["no address", { ...string, format: "uri" }, "example.org", /must be an address/],
    ["a date", { ...string, format: "date" }, "2028-02-29", "2028-02-29"],
    ["a date that no calendar has", { ...string, format: "date" }, "2026-02-30", /must be a date/],
    ["a date and a time", { ...string, format: "date-time" }, "2026-11-30T18:05:00+01:00", "2026-11-30T18:05:00+01:00"],
    ["a time that no clock has", { ...string, format: "date-time" }, "2026-11-30T25:05:00Z", /a date and a time/],
    ["a list as JSON", { type: "array", items: { type: "number" } }, "[1, 2]", [1, 2]],
    ["an object as JSON", { type: "object" }, '{"a":1}', { a: 1 }],
    ["what is no JSON", { type: "object" }, "{a", /must be a JSON object/],
    ["text or nothing at all", { type: ["string", "null"] }, "x", "x"],
    ["one of several types", { anyOf: [{ type: "number" }, { type: "boolean" }] }, "true", true],
    ["what the schema does not say", {}, "anything", "anything"],
  ];
  test.each(cases)("%s", (_, schema, text, outcome) => {
    const state = after(form({ field: schema }), typed(text));
    if (outcome instanceof RegExp) expect(problemsOf(state)).toEqual([expect.stringMatching(outcome)]);
    else expect(valuesOf(state)).toEqual({ field: outcome });
  });
});

test("choices are chosen with the arrows, by their first letters, and taken back", () => {
  const state = form({ size: { type: "string", enum: ["small", "medium", "large"] } });
  expect(valuesOf(state)).toEqual({});
  expect(valuesOf(after(state, right, right))).toEqual({ size: "medium" });
  expect(valuesOf(after(state, { name: "left" }))).toEqual({ size: "large" });
  expect(valuesOf(after(state, typed("L")))).toEqual({ size: "large" });
  expect(valuesOf(after(state, right, { name: "backspace" }))).toEqual({});
});

test("↑ and ↓ move within a list of choices, stop at its ends, and leave a problem of the field behind", () => {
  const state = form(
    { size: { enum: ["small", "medium", "large"] }, tags: { type: "array", items: { enum: ["a", "b"] } } },
    ["size"],
  );
  expect(valuesOf(after(state, down, down))).toEqual({ size: "medium" });
  expect(valuesOf(after(state, { name: "up" }))).toEqual({ size: "large" });
  const end = after(state, down, down, down, down, down);
  expect([valuesOf(end), end.focus]).toEqual([{ size: "large" }, 0]);
  expect(valuesOf(after(end, { name: "up" }, { name: "up" }, { name: "up" }))).toEqual({ size: "small" });
  const marked = after(end, tab, down, typed(" "), down, { name: "up" });
  expect([valuesOf(marked), marked.focus]).toEqual([{ size: "large", tags: ["b"] }, 1]);
  expect(after(marked, tab).focus).toBe("send");
  const refused = after(state, tab, tab, enter);
  expect([...refused.problems.keys()]).toEqual([0]);
  expect(after(refused, down).problems.size).toBe(0);
});

test("a choice or a switch that is typed whole is the one that is meant", () => {
  const state = form({
    size: { enum: ["larger", "large"], default: "large" },
    isOn: { type: "boolean", default: true },
  });
  expect(valuesOf(after(state, typed("large"), tab, typed("no")))).toEqual({ size: "large", isOn: false });
  expect(valuesOf(after(state, typed("l"), typed("large"), tab, typed("yes")))).toEqual({ size: "large", isOn: true });
});

test.each([
  [
    "oneOf",
    {
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
  ],
  [
    "anyOf",
    {
      anyOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
  ],
  ["enumNames", { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] }],
])("choices with titles (%s) are found by their titles and sent as their values", (_, schema) => {
  const state = form({ size: schema });
  expect(valuesOf(after(state, typed("la")))).toEqual({ size: "l" });
});

test.each([
  ["enum", { type: "string", enum: ["a", "b", "c"] }],
  ["anyOf", { anyOf: ["a", "b", "c"].map((each) => ({ const: each, title: `letter ${each}` })) }],
])("several choices (%s) are marked with the space bar, and as many as the schema says", (_, items) => {
  const state = form({ letters: { type: "array", items, minItems: 1, maxItems: 2 } });
  expect(valuesOf(state)).toEqual({});
  expect(valuesOf(after(state, space, right, right, space))).toEqual({ letters: ["a", "c"] });
  expect(problemsOf(after(state, space, space))).toEqual(["must have at least 1 selected"]);
  expect(problemsOf(after(state, space, right, space, right, space))).toEqual(["must have at most 2 selected"]);
});

test("a switch that the user has not changed is left out, unless it has to be answered", () => {
  expect(valuesOf(form({ isOn: { type: "boolean" } }))).toEqual({});
  expect(problemsOf(form({ isOn: { type: "boolean" } }, ["isOn"]))).toEqual(["is required"]);
  expect(valuesOf(after(form({ isOn: { type: "boolean" } }), typed("n")))).toEqual({ isOn: false });
  expect(valuesOf(after(form({ isOn: { type: "boolean" } }), space))).toEqual({ isOn: true });
});

test("defaults stand in their fields; what is known already goes before them", () => {
  const schema = {
    type: "object",
    properties: {
      text: { type: "string", default: "x" },
      number: { type: "integer", default: 3 },
      isOn: { type: "boolean", default: true },
      size: { type: "string", enum: ["s", "l"], default: "l" },
      letters: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["b"] },
      object: { type: "object", default: { a: 1 } },
    },
  };
  const defaults = { text: "x", number: 3, isOn: true, size: "l", letters: ["b"], object: { a: 1 } };
  expect(valuesOf(openForm(schema))).toEqual(defaults);
  expect(valuesOf(openForm(schema, { text: "y", isOn: false }))).toEqual({ ...defaults, text: "y", isOn: false });
});

test("only the button sends: Enter goes on to the next field, and back to the first one that is wrong", () => {
  const state = form({ name: { type: "string" }, age: { type: "integer" } }, ["name"]);
  const atButton = after(state, enter, typed("old"), enter);
  expect(atButton.focus).toBe("send");
  const refused = after(atButton, enter);
  expect({ focus: refused.focus, problems: [...refused.problems] }).toEqual({
    focus: 0,
    problems: [
      [0, "is required"],
      [1, "must be a whole number"],
    ],
  });
  const filled = after(
    refused,
    typed("Ann"),
    down,
    { name: "backspace" },
    { name: "backspace" },
    { name: "backspace" },
    typed("7"),
    enter,
  );
  expect(formKey(filled, enter)).toEqual({ answer: { action: "accept", content: { name: "Ann", age: 7 } } });
});

test("Escape cancels, the second button declines, and a form without fields begins there", () => {
  const state = form({ name: { type: "string" } });
  expect(formKey(state, { name: "escape" })).toEqual({ answer: { action: "cancel" } });
  expect(formKey(after(state, { name: "up" }), enter)).toEqual({ answer: { action: "decline" } });
  expect(formKey(openForm({ type: "object", properties: {} }), enter)).toEqual({ answer: { action: "decline" } });
});

test.each(["left", "right"] as const)("the %s arrow moves between the two buttons, and other keys do not", (name) => {
  const atButton = after(form({ name: { type: "string" } }), tab);
  const buttons = [[], [name], [name, name], [name, "home"]] as const;
  expect(buttons.map((keys) => after(atButton, ...keys.map((each) => ({ name: each }))).focus)).toEqual([
    "send",
    "decline",
    "send",
    "decline",
  ]);
});

test("a large paste goes into a field by its name, and out of it whole", () => {
  const text = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
  expect(valuesOf(after(form({ text: { type: "string" } }), { name: "paste", text }))).toEqual({ text });
});

test("fields that look like secrets are known by the words of their names and titles", () => {
  const names = [
    "password",
    "apiKey",
    "API key",
    "github_token",
    "client-secret",
    "userPin",
    "cardNumber",
    "passphrase",
  ];
  const others = ["name", "compass", "spinner", "monkey", "max_tokens", "tokenizer"];
  const secrets = (all: readonly string[]): readonly string[] =>
    form(Object.fromEntries(all.map((each) => [each, { type: "string" }])))
      .fields.filter(({ isSecret }) => isSecret)
      .map(({ name }) => name);
  expect(secrets(names)).toEqual(names);
  expect(secrets(others)).toEqual([]);
  expect(form({ value: { type: "string", title: "Your password" } }).fields[0]?.isSecret).toBe(true);
});

test("whatever a server calls a schema, there is a form, and its names are names", () => {
  for (const schema of [undefined, null, 7, "x", [], { properties: 7 }, { properties: { a: null, b: 7, c: [] } }])
    expect(openForm(schema).fields.every(({ input }) => input.kind === "json")).toBe(true);
  const state = after(openForm(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')), typed("x"));
  const found = formValues(state);
  expect(found.kind === "values" && Object.entries(found.values)).toEqual([["__proto__", "x"]]);
});

test("a form of very many fields is shown without the rest, and says so", () => {
  const many = form(Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`f${at}`, { type: "string" }])));
  expect({ shown: many.fields.length, leftOut: many.leftOut }).toEqual({ shown: 200, leftOut: 50 });
});
