import { expect, test } from "vitest";
import { createSchemaCompiler } from "../../../src/normalise/schema/compile.ts";

const schemaOf = (name: string): unknown => ({ type: "object", properties: { [name]: { type: "string" } } });
const catalog = (count: number): unknown[] => [...Array(count).keys()].map((index) => schemaOf(`p${index}`));

test("registering the same catalog again compiles nothing, and gives the same results", () => {
  const compiler = createSchemaCompiler();
  const first = catalog(100).map((raw) => compiler.compile(raw));
  expect(compiler.compiled).toBe(100);
  const second = catalog(100).map((raw) => compiler.compile(raw));
  expect(compiler.compiled).toBe(100);
  expect(second.every((result, index) => result === first[index])).toBe(true);
});

test("the order of properties is content: another order is another schema", () => {
  const compiler = createSchemaCompiler();
  compiler.compile({ type: "object", properties: { a: {}, b: {} } });
  compiler.compile({ type: "object", properties: { b: {}, a: {} } });
  expect(compiler.compiled).toBe(2);
});

test.each(["gemini", "openai", "anthropic"] as const)(
  "what is handed out for %s cannot be changed for the next one",
  (dialect) => {
    const raw = {
      type: "object",
      properties: { a: { enum: ["x"] }, b: { type: "array", items: {} } },
      required: ["a"],
    };
    const compiled = createSchemaCompiler(dialect).compile(raw);
    if (compiled.kind !== "compiled") throw new Error(compiled.reason);
    const open: unknown[] = [compiled.schema];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      expect(Object.isFrozen(value)).toBe(true);
      open.push(...Object.values(Object(value)).filter((member) => typeof member === "object"));
    }
    expect(Object.isFrozen(raw.properties)).toBe(false);
  },
);

test("what is too large is not even compiled, and what turns out to be is remembered", () => {
  const compiler = createSchemaCompiler("openai");
  const large = { type: "object", description: "d".repeat(300_000) };
  expect(compiler.compile(large)).toEqual({ kind: "quarantined", reason: "the schema is larger than 256 kB" });
  expect(compiler.compiled).toBe(0);
  const properties = Object.fromEntries([...Array(2000).keys()].map((index) => [`p${index}`, {}]));
  const reason = "the schema has more than 2000 subschemas once its references are resolved";
  expect([compiler.compile({ properties }), compiler.compile({ properties })]).toEqual([
    { kind: "quarantined", reason },
    { kind: "quarantined", reason },
  ]);
  expect(compiler.compiled).toBe(1);
});

test("it remembers 20 000, and forgets the oldest", () => {
  const compiler = createSchemaCompiler();
  for (const raw of catalog(20_001)) compiler.compile(raw);
  compiler.compile(schemaOf("p20000"));
  compiler.compile(schemaOf("p1"));
  expect(compiler.compiled).toBe(20_001);
  compiler.compile(schemaOf("p0"));
  expect(compiler.compiled).toBe(20_002);
});
