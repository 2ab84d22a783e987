import { compileSchema } from "@fairlead/core/normalise/schema/compile";
import { schemaLimits } from "@fairlead/core/normalise/schema/read/bounds";
import { describe, expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { literally, readPage, shellWords } from "../support/page.ts";

const page = readPage("tools.md");
const blocks = [...page.matchAll(/```console\n\$ (.*)\n([\s\S]*?)```/g)].map(([, line = "", shown = ""]) => ({
  line,
  shown,
}));
const settings = [...page.matchAll(/```json\n([\s\S]*?)```/g)].flatMap(([, json = ""]) =>
  json.includes("mcpServers") ? [json] : [],
);

/** The shown text; a line with nothing but `…` stands for any lines. */
function pattern(shown: string): RegExp {
  const lines = shown.split("\n").map((line) => (line.trim() === "…" ? "[\\s\\S]*?" : literally(line)));
  return new RegExp(`^${lines.join("\n").replaceAll("[\\s\\S]*?\n", "[\\s\\S]*?")}$`);
}

/** Schemas in which a keyword says something that the API cannot be told in this way. */
const samples: ReadonlyMap<string, object> = new Map<string, object>([
  ["$schema", { $schema: "https://json-schema.org/draft/2020-12/schema" }],
  ["$id", { $id: "https://example.com/x" }],
  ["$anchor", { $anchor: "x" }],
  ["$comment", { $comment: "x" }],
  ["additionalProperties", { additionalProperties: false }],
  ["unevaluatedProperties", { unevaluatedProperties: false }],
  ["default", { type: "string", default: "x" }],
  ["examples", { type: "string", examples: ["x"] }],
  ["type", { type: ["string", "null"] }],
  ["nullable", { type: "string", nullable: true }],
  ["const", { const: "x" }],
  ["enum", { enum: ["x", true] }],
  ["$ref", { $ref: "#/properties/kept/$defs/x", $defs: { x: { type: "string" } } }],
  ["$defs", { $defs: { x: { type: "string" } } }],
  ["definitions", { definitions: { x: { type: "string" } } }],
  ["allOf", { allOf: [{ type: "string" }] }],
  ["oneOf", { oneOf: [{ type: "string" }, { type: "number" }] }],
  ["anyOf", { properties: { a: {} }, anyOf: [{ required: ["a"] }] }],
  ["not", { not: { type: "string" } }],
  ["if", { if: { type: "string" }, else: { type: "number" } }],
  // Written down, an object like this would be taken for a promise.
  ["then", Object.fromEntries(["if", "then"].map((keyword) => [keyword, { type: "string", pattern: keyword }]))],
  ["else", { if: { type: "string" }, else: { type: "number" } }],
  ["dependentRequired", { properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } }],
  ["dependentSchemas", { properties: { a: {} }, dependentSchemas: { a: { required: ["b"] } } }],
  ["patternProperties", { patternProperties: { "^x": { type: "string" } } }],
  ["propertyNames", { propertyNames: { pattern: "^x" } }],
  ["minProperties", { minProperties: 1 }],
  ["maxProperties", { maxProperties: 1 }],
  ["exclusiveMinimum", { type: "number", exclusiveMinimum: 0 }],
  ["exclusiveMaximum", { type: "number", exclusiveMaximum: 0 }],
  ["multipleOf", { type: "number", multipleOf: 3 }],
  ["minLength", { type: "string", minLength: 1 }],
  ["maxLength", { type: "string", maxLength: 1 }],
  ["pattern", { type: "string", pattern: "x" }],
  ["uniqueItems", { type: "array", items: {}, uniqueItems: true }],
  ["contains", { type: "array", items: {}, contains: { type: "string" } }],
  ["format", { type: "string", format: "uri" }],
  ["items", { type: "array", items: [{ type: "string" }] }],
  ["required", { properties: { a: {} }, required: ["a", "absent"] }],
]);

describe("docs/tools.md", () => {
  test("every console block is a command and what it prints", () => {
    expect(blocks).toHaveLength(page.split("```console\n").length - 1);
    expect(blocks.length).toBeGreaterThan(2);
  });

  test.each(blocks)("$line", async ({ line, shown }) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run(...shellWords(line));
    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(pattern(shown));
  });

  test("its settings are settings", async () => {
    expect(settings).toHaveLength(1);
    await using here = await machine({ [userFile]: settings[0] ?? "" });
    expect(await here.run("settings", "validate")).toMatchObject({ code: 0 });
  });

  describe("what it says about schemas is so", () => {
    const [, table = ""] = page.split("| what the server wrote | what the model gets |\n");
    const rows = table.split("\n\n", 1)[0]?.split("\n").slice(1) ?? [];
    const keywords = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`(\$?[a-zA-Z]+)`/g)].map(([, keyword = ""]) => keyword),
    );

    test("every keyword that it names is tried here", () => {
      const values = ["STRING", "int", "dict", "null", "true"];
      const named = new Set(keywords.filter((keyword) => !values.includes(keyword)));
      expect([...named].sort()).toEqual([...samples.keys()].sort());
    });

    test.each([...samples])("%s is changed, and no property is lost", (keyword, schema) => {
      const compiled = compileSchema({ type: "object", properties: { kept: schema } }, "gemini");
      if (compiled.kind === "quarantined") throw new Error(compiled.reason);
      expect(compiled.repairs.map((repair) => repair.keyword)).toContain(keyword);
      expect(compiled.schema).toHaveProperty("properties.kept");
    });

    test("the limits are those", () => {
      expect(page).toContain(
        `schemas over ${schemaLimits.bytes / 1024} kB, more than ${schemaLimits.depth} levels deep or with more than ${schemaLimits.subschemas} parts`,
      );
    });
  });
});
