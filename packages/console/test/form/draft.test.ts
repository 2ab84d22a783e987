import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { absent, type Draft, draftOf, draftValue, emptyDraft, jsonValue } from "../../src/form/draft.ts";
import { type NestedInput, nestedInputOf } from "../../src/form/nested-input.ts";

const point = { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x", "y"] };
const schema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    size: { type: "integer", minimum: 0 },
    isDeep: { type: "boolean" },
    mode: { enum: ["read", "write"] },
    flags: { type: "array", items: { enum: ["a", "b", "c"] } },
    points: { type: "array", items: { $ref: "#/$defs/point" }, maxItems: 3 },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    labels: { type: "object", additionalProperties: { type: "string" } },
    target: {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "file" }, name: { type: "string" } },
          required: ["kind", "name"],
        },
        {
          type: "object",
          properties: { kind: { const: "url" }, href: { type: "string" } },
          required: ["kind", "href"],
        },
      ],
    },
    anything: {},
  },
  required: ["path"],
  $defs: { point },
};
const input = nestedInputOf(schema);

function fieldOf(name: string): NestedInput | undefined {
  return input.kind === "object" ? input.fields.find((field) => field.name === name)?.input : undefined;
}

test("objects, lists, tuples, free keys and alternatives have inputs of their own", () => {
  expect(fieldOf("points")).toMatchObject({ kind: "list", maxItems: 3, item: { kind: "object" } });
  expect(fieldOf("pair")).toMatchObject({ kind: "tuple", items: [{ kind: "text" }, { kind: "number" }] });
  expect(fieldOf("labels")).toMatchObject({ kind: "object", fields: [], others: { kind: "text" } });
  expect(fieldOf("target")).toMatchObject({
    kind: "variant",
    alternatives: [{ title: "kind: file" }, { title: "kind: url" }],
  });
  expect(fieldOf("flags")).toMatchObject({ kind: "choices" });
  expect(fieldOf("anything")).toMatchObject({ kind: "json" });
});

test("alternatives at the root of a schema have the common properties", () => {
  const root = {
    properties: { id: { type: "string" } },
    required: ["id"],
    anyOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "number" } } }],
  };
  const read = nestedInputOf(root);
  const names = (one: NestedInput | undefined) => (one?.kind === "object" ? one.fields.map(({ name }) => name) : []);
  expect(read.kind === "variant" ? read.alternatives.map((one) => names(one.input).sort()) : read).toEqual([
    ["a", "id"],
    ["b", "id"],
  ]);
});

test("a schema that refers to itself ends in JSON", () => {
  const tree = { properties: { child: { $ref: "#" }, name: { type: "string" } }, type: "object" };
  expect(JSON.stringify(nestedInputOf(tree)).match(/"json"/g)?.length).toBe(1);
});

test.each([
  ["alternatives", { oneOf: Array.from({ length: 30 }, () => ({ $ref: "#/$defs/a" })) }],
  ["items of a tuple", { type: "array", prefixItems: Array.from({ length: 200 }, () => ({ $ref: "#/$defs/a" })) }],
  [
    "types",
    { type: ["array", "string", "object"], items: { $ref: "#/$defs/a" }, additionalProperties: { $ref: "#/$defs/a" } },
  ],
])("a schema that has itself as its %s is a form of bounded size", (_, a) => {
  const form = nestedInputOf({ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a } });
  expect(
    JSON.stringify(form, (key, value: unknown) => (key === "root" || key === "schema" ? undefined : value)).length,
  ).toBeLessThan(200_000);
});

const point2 = fc.record({ x: fc.integer(), y: fc.integer() });
/** Without numbers that cannot be sent exactly, and without −0, which JSON writes as 0. */
const jsonValues = fc
  .jsonValue()
  .map((value) => JSON.stringify(value))
  .filter((text) => !/\d{16}|\de/i.test(text))
  .map((text): unknown => JSON.parse(text));

const values = fc.record(
  {
    path: fc.string({ minLength: 1 }),
    size: fc.nat(),
    isDeep: fc.boolean(),
    mode: fc.constantFrom("read", "write"),
    flags: fc.uniqueArray(fc.constantFrom("a", "b", "c")).map((chosen) => chosen.sort()),
    points: fc.array(point2, { maxLength: 3 }),
    pair: fc.tuple(fc.string({ minLength: 1 }), fc.integer()),
    labels: fc.dictionary(fc.stringMatching(/^[a-z]+$/), fc.string({ minLength: 1 })),
    target: fc.oneof(
      fc.record({ kind: fc.constant("file"), name: fc.string({ minLength: 1 }) }),
      fc.record({ kind: fc.constant("url"), href: fc.string({ minLength: 1 }) }),
    ),
    anything: jsonValues,
  },
  { requiredKeys: ["path"] },
);

test("a value that fits the schema comes back from its form unchanged", () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(draftValue(input, draftOf(input, value))).toEqual({ value, problems: new Map() });
    }),
  );
});

test("a value that no form fits is shown as JSON, and comes back unchanged", () => {
  fc.assert(
    fc.property(jsonValues, (value) => {
      expect(draftValue(input, draftOf(input, value)).value).toEqual(value);
    }),
  );
});

describe("what is wrong with a form", () => {
  const problemsOf = (draft: Draft) => Object.fromEntries(draftValue(input, draft).problems);
  const filled = (members: Readonly<Record<string, Draft>>): Draft => ({ kind: "object", members, others: [] });
  const path: Draft = { kind: "typed", text: "/" };

  test("is named by JSON pointer", () => {
    expect(problemsOf(emptyDraft(input))).toEqual({ "/path": "is required" });
    expect(
      problemsOf(
        filled({
          path,
          size: { kind: "typed", text: "12345678901234567890" },
          points: { kind: "list", items: [filled({ x: { kind: "typed", text: "1" }, y: absent })] },
          anything: { kind: "json", text: '{"a":1,"a":2}' },
          labels: {
            kind: "object",
            members: {},
            others: [
              { key: "", draft: path },
              { key: "k", draft: path },
              { key: "k", draft: path },
            ],
          },
        }),
      ),
    ).toEqual({
      "/size": "is a number that cannot be sent exactly",
      "/points/0/y": "is required",
      "/anything": 'has the key "a" twice in one object',
      "/labels/": "needs a name",
      "/labels/k": "is there twice",
    });
  });

  test("text that is no JSON is a problem, not a value", () => {
    expect(jsonValue("{a}")).toMatch(/^is not JSON: /);
    expect(jsonValue("1e400")).toBe("has a number that cannot be sent exactly: 1e400");
    expect(jsonValue("[1]")).toEqual({ value: [1] });
  });
});

test("a key called __proto__ stays a key", () => {
  const odd = nestedInputOf({ type: "object", additionalProperties: { type: "string" } });
  const value: unknown = JSON.parse('{"__proto__":"x"}');
  expect(JSON.stringify(draftValue(odd, draftOf(odd, value)).value)).toBe('{"__proto__":"x"}');
});
