import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { commandFile } from "../../src/generate/command-file.ts";

/** The lines of the table of tools, without the program around them. */
function table(file: string): readonly string[] {
  const [, lines = ""] = /^const tools = \[\n?([\s\S]*?)^\];$/m.exec(file) ?? [];
  return lines.trimEnd().split("\n");
}

const flagsOf = (properties: JsonObject, required: readonly string[] = [], more: JsonObject = {}) =>
  table(
    commandFile({ name: "s", tools: [{ name: "t", inputSchema: { properties, required: [...required], ...more } }] }),
  );

test("the program names its server, and its tools are sorted by name", () => {
  const file = commandFile({
    name: 's"\u202e',
    tools: [
      { name: "b", title: "B", inputSchema: {} },
      { name: "a", title: "A", description: "Does a.", inputSchema: {} },
      { name: "c", inputSchema: {} },
    ],
  });
  expect(file.split("\n").slice(0, 2)).toEqual([
    "#!/usr/bin/env node",
    expect.stringMatching(/^\/\/ Written by `fairlead generate cli /),
  ]);
  expect(file).toContain('\nconst server = "s\\"\\u202e";\nconst tools = [\n');
  expect(table(file)).toEqual([
    '  { ...{"name":"a","about":"Does a.","others":[]}, flags: [',
    "  ] },",
    '  { ...{"name":"b","about":"B","others":[]}, flags: [',
    "  ] },",
    '  { ...{"name":"c","about":"","others":[]}, flags: [',
    "  ] },",
  ]);
});

describe("a parameter becomes a flag", () => {
  test.each<[schema: JsonObject, flag: string]>([
    [{ type: "string" }, '"kind":"text"'],
    [{ type: ["string", "null"] }, '"kind":"text"'],
    [{ type: "number" }, '"kind":"number"'],
    [{ anyOf: [{ type: "integer" }, { type: "number" }] }, '"kind":"number"'],
    [{ type: "boolean" }, '"kind":"flag"'],
    [{ type: ["string", "number"] }, '"kind":"any"'],
    [{ type: "object" }, '"kind":"any"'],
    [{}, '"kind":"any"'],
    [{ type: "array", items: { type: "string" } }, '"kind":"text","list":true'],
    [{ type: "array", items: { type: "integer" } }, '"kind":"number","list":true'],
    [{ type: "array", items: { type: "boolean" } }, '"kind":"any"'],
    [{ type: "array", items: {} }, '"kind":"any"'],
    [{ type: "array" }, '"kind":"any"'],
    [{ type: ["array", "string"], items: { type: "string" } }, '"kind":"any"'],
    [{ $ref: "#/$defs/words" }, '"kind":"text","list":true'],
  ])("%j", (schema, flag) => {
    const words = { type: "array", items: { $ref: "#/$defs/word" } };
    expect(flagsOf({ a: schema }, [], { $defs: { words, word: { type: "string" } } })).toEqual([
      '  { ...{"name":"t","about":"","others":[]}, flags: [',
      `    {"name":"a",${flag},"about":""},`,
      "  ] },",
    ]);
  });

  test("with what is said about it, and whether it is required", () => {
    expect(flagsOf({ a: { type: "string", description: "A." }, b: { description: 7 } }, ["a"])).toEqual([
      '  { ...{"name":"t","about":"","others":[]}, flags: [',
      '    {"name":"a","kind":"text","required":true,"about":"A."},',
      '    {"name":"b","kind":"any","about":""},',
      "  ] },",
    ]);
  });

  test("unless it has a name that the program uses, or that no flag can have", () => {
    const names = ["args", "help", "json", "yes", "a b", "-c", "9", "", "ä", "A-z_9"];
    expect(flagsOf(Object.fromEntries(names.map((name) => [name, {}])))).toEqual([
      '  { ...{"name":"t","about":"","others":["9","args","help","json","yes","a b","-c","","ä"]}, flags: [',
      '    {"name":"A-z_9","kind":"any","about":""},',
      "  ] },",
    ]);
  });

  test("long descriptions are cut", () => {
    const file = (length: number) =>
      commandFile({
        name: "s",
        tools: [
          {
            name: "t",
            description: "d".repeat(length * 10),
            inputSchema: { properties: { a: { description: "w".repeat(length * 1.5) } } },
          },
        ],
      });
    expect(file(200)).toContain(`"about":"${"d".repeat(2000)}"`);
    expect(file(200)).toContain(`"about":"${"w".repeat(300)}"`);
    expect(file(202)).toContain(`"about":"${"d".repeat(1999)}…"`);
    expect(file(202)).toContain(`"about":"${"w".repeat(299)}…"`);
  });
});
