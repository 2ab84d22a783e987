import { expect, test } from "vitest";
import { type SearchableTool, wordsOfServer, wordsOfTool } from "../../src/search/words.ts";

/** The words of a tool without the words of a server, rounded for comparison. */
function weightsOf(tool: SearchableTool): Readonly<Record<string, number>> {
  return rounded(wordsOfTool(tool, new Map()).weights);
}

function rounded(weights: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...weights].map(([word, weight]) => [word, Number(weight.toFixed(3))]));
}

test("the words of a server come from its name, title and instructions", () => {
  expect(rounded(wordsOfServer({ name: "disk", title: "Local files", instructions: "Cities" }))).toEqual({
    disk: 1.739,
    local: 1.739,
    file: 1.739,
    citi: 1.942,
  });
  expect(rounded(wordsOfServer({ name: "disk" }))).toEqual({ disk: 2.353 });
});

test("only the beginning of a server's instructions is read", () => {
  const instructions = `${"x".repeat(400)} city`;
  expect(wordsOfServer({ name: "disk", instructions }).has("citi")).toBe(false);
  expect(wordsOfServer({ name: "disk", instructions: instructions.slice(5) }).has("citi")).toBe(true);
});

test("a word weighs more in a name than in a title, a description or a parameter", () => {
  const tool = {
    name: "alpha",
    title: "beta",
    description: "gamma",
    inputSchema: { properties: { delta: { description: "epsilon" } } },
  };
  expect(weightsOf(tool)).toEqual({ alpha: 3.797, beta: 1.25, gamma: 2.053, delta: 1.818, epsilon: 0.622 });
});

test("a word weighs less in a longer text, and its weights add up", () => {
  const long = Array.from({ length: 39 }, (_none, at) => `word${String.fromCharCode(97 + (at % 26))}x${at}`);
  expect(weightsOf({ name: "file", description: "file" })["file"]).toBe(5.851);
  expect(weightsOf({ name: "x", description: `beta ${long.join(" ")}` })["beta"]).toBeLessThan(0.5);
  expect(weightsOf({ name: "x", description: "beta beta" })["beta"]).toBe(3.5);
});

test("however often a word is repeated in a field, it counts a bounded number of times", () => {
  const repeated = "beta ".repeat(500);
  expect(weightsOf({ name: "beta beta beta beta" })).toEqual({ beta: 3.9 });
  expect(weightsOf({ name: "", title: repeated })).toEqual({ beta: 1.25 });
  expect(weightsOf({ name: "", description: repeated })).toEqual({ beta: 3.5 });
  const described = (text: string) => ({ properties: { p: { description: text } } });
  expect(weightsOf({ name: "", inputSchema: described(repeated) })["beta"]).toBe(0.88);
  const named = Object.fromEntries(Array.from({ length: 90 }, (_none, at) => [`beta_${"_".repeat(at)}`, {}]));
  expect(weightsOf({ name: "", inputSchema: { properties: named } })).toEqual({ beta: 2 });
  expect(rounded(wordsOfServer({ name: "", instructions: repeated }))).toEqual({ beta: 3.2 });
});

test("a field with very many words counts no more than one of usual size", () => {
  const words = (count: number): string =>
    Array.from(
      { length: count },
      (_none, at) => `w${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))}`,
    ).join(" ");
  const sumOf = (tool: SearchableTool): number =>
    Object.values(weightsOf(tool)).reduce((sum, weight) => sum + weight, 0);
  expect(sumOf({ name: words(100) })).toBeCloseTo(sumOf({ name: words(6) }), 0);
  expect(sumOf({ name: "", description: words(600) })).toBeCloseTo(sumOf({ name: "", description: words(60) }), 0);
});

test("the words of the server are added to those of the tool, and stay as they are", () => {
  const ofServer = new Map([
    ["disk", 2],
    ["file", 1],
  ]);
  const { weights, characters } = wordsOfTool({ name: "file" }, ofServer);
  expect(rounded(weights)).toEqual({ disk: 2, file: 4.797 });
  expect(characters).toBe(4);
  expect([...ofServer]).toEqual([
    ["disk", 2],
    ["file", 1],
  ]);
});

test("the parameters inside objects and lists count, and the description of the whole schema does not", () => {
  const inputSchema = {
    description: "whole",
    properties: {
      outer: { description: "first", properties: { inner: { description: "second" } } },
      rows: { items: { description: "third", properties: { column: {} } } },
      plain: { description: 7, items: "no schema" },
    },
  };
  expect(Object.keys(weightsOf({ name: "", inputSchema }))).toEqual([
    "outer",
    "row",
    "plain",
    "inner",
    "column",
    "first",
    "second",
    "third",
  ]);
});

test("at most the first hundred schemas of a tool are read", () => {
  const named = (count: number): Record<string, object> =>
    Object.fromEntries(Array.from({ length: count }, (_none, at) => [`p${at}`, { description: `about${at}` }]));
  const wordsOf = (properties: Record<string, object>): readonly string[] =>
    Object.keys(weightsOf({ name: "", inputSchema: { properties } })).filter((word) => /^\d+$/.test(word));
  // The schema itself counts as one.
  expect(Math.max(...wordsOf(named(120)).map(Number))).toBe(99);
  const late = { description: "late" };
  const describes = (count: number): boolean =>
    "late" in weightsOf({ name: "", inputSchema: { properties: { ...named(count), last: late } } });
  expect([describes(98), describes(99)]).toEqual([true, false]);
});

test("the characters that were read are counted, up to a limit for each text", () => {
  const schema = { properties: { ab: { description: "cde" }, f: { description: "g" } } };
  const tool = { name: "n", title: "ti", description: "x ".repeat(3_000), inputSchema: schema };
  expect(wordsOfTool(tool, new Map()).characters).toBe(1 + 2 + 4_000 + "ab f".length + "cde g".length);
});
