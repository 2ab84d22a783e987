import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { anything, compiledOf } from "../../support/compiled.ts";

const string = { type: "string" };
const point = { type: "object", properties: { x: { type: "number" } } };

const propertiesOf = (raw: JsonObject): unknown => compiledOf({ type: "object", ...raw }).schema["properties"];
const repairsOf = (raw: JsonObject): string[] =>
  compiledOf({ type: "object", ...raw }).repairs.map(({ action, path, keyword }) => `${action} ${path}/${keyword}`);

describe("a reference is put in place", () => {
  test.each<readonly [what: string, raw: JsonObject, properties: unknown]>([
    ["to a definition", { properties: { a: { $ref: "#/$defs/p" } }, $defs: { p: point } }, { a: point }],
    ["to one of draft 7", { properties: { a: { $ref: "#/definitions/p" } }, definitions: { p: point } }, { a: point }],
    ["to another property", { properties: { a: string, b: { $ref: "#/properties/a" } } }, { a: string, b: string }],
    [
      "over another",
      { properties: { a: { $ref: "#/$defs/q" } }, $defs: { p: point, q: { $ref: "#/$defs/p" } } },
      { a: point },
    ],
    [
      "with slashes and tildes",
      { properties: { a: { $ref: "#/$defs/a~1b~0c" } }, $defs: { "a/b~c": string } },
      { a: string },
    ],
    [
      "with encoded characters",
      { properties: { a: { $ref: "#/$defs/a%20b%25" } }, $defs: { "a b%": string } },
      { a: string },
    ],
    [
      "with a percent sign that encodes nothing",
      { properties: { a: { $ref: "#/$defs/100%" } }, $defs: { "100%": string } },
      { a: string },
    ],
    [
      "into a list",
      { properties: { a: { $ref: "#/$defs/p/anyOf/1" } }, $defs: { p: { anyOf: [point, string] } } },
      { a: string },
    ],
    [
      "to an anchor",
      { properties: { a: { $ref: "#here" } }, $defs: { p: { $anchor: "here", ...string } } },
      { a: string },
    ],
    [
      "to an anchor of draft 7",
      { properties: { a: { $ref: "#here" } }, $defs: { p: { $id: "#here", ...string } } },
      { a: string },
    ],
    [
      "by a dynamic anchor",
      { properties: { a: { $dynamicRef: "#here" } }, $defs: { p: { $dynamicAnchor: "here", ...string } } },
      { a: string },
    ],
    [
      "to a name",
      {
        $id: "https://example.com/root",
        properties: { a: { $ref: "part" } },
        $defs: { p: { $id: "part", ...string } },
      },
      { a: string },
    ],
    [
      "into something with a name",
      { properties: { a: { $ref: "part#/$defs/q" } }, $defs: { p: { $id: "part", $defs: { q: string } } } },
      { a: string },
    ],
    [
      "inside something with a name",
      {
        properties: { a: { $ref: "#/$defs/p" } },
        $defs: { p: { $id: "part", type: "array", items: { $ref: "#/$defs/q" }, $defs: { q: string } } },
      },
      { a: { type: "array", items: string } },
    ],
    [
      "inside something with an id that is no name",
      {
        properties: { a: { $ref: "#/$defs/p" } },
        $defs: { p: { id: "User", type: "array", items: { $ref: "#/$defs/q" } }, q: string },
      },
      { a: { type: "array", items: string } },
    ],
    [
      "to the schema by its own name",
      {
        $id: "https://example.com/root",
        properties: { a: { $ref: "https://example.com/root#/$defs/p" } },
        $defs: { p: string },
      },
      { a: string },
    ],
    ["to a schema of nothing", { properties: { a: { $ref: "#/$defs/p" } }, $defs: { p: true } }, { a: anything }],
    [
      "whose name is a member of every object",
      { properties: { a: { $ref: "#/$defs/constructor" } }, $defs: {} },
      { a: anything },
    ],
  ])("%s", (_, raw, properties) => {
    expect(propertiesOf(raw)).toEqual(properties);
  });

  test("with what stands beside it: the place's own words count, and the rules of both", () => {
    const raw = {
      properties: { a: { $ref: "#/$defs/p", description: "Here.", title: "Here", minimum: 2 } },
      $defs: { p: { type: "number", description: "There.", minimum: 1, maximum: 5 } },
    };
    expect(propertiesOf(raw)).toEqual({
      a: { type: "number", title: "Here", description: "Here.", minimum: 2, maximum: 5 },
    });
    expect(repairsOf(raw)).toEqual(["merged /properties/a/$ref", "rewritten /$defs"]);
  });

  test("and definitions that nothing refers to are left out", () => {
    const $defs = { p: point, q: string, r: { $ref: "#/$defs/q" } };
    expect(repairsOf({ properties: { a: { $ref: "#/$defs/p" } }, $defs })).toEqual([
      "rewritten /properties/a/$ref",
      "rewritten /$defs",
      "removed /$defs/q",
      "removed /$defs/r",
    ]);
    expect(repairsOf({ $defs })).toEqual(["removed /$defs"]);
  });
});

describe("a reference that leads nowhere leaves an open property", () => {
  test.each([
    "#/$defs/none",
    "#none",
    "https://example.com/schema.json",
    "file:///etc/passwd",
    "//[",
    "#/properties/a/type",
    "",
  ])("%s", ($ref) => {
    const raw = { properties: { a: { $ref, description: "A." } }, $defs: { "": 5 } };
    const expected =
      $ref === ""
        ? { a: { type: "object", description: expect.any(String) } }
        : { a: { description: "A.", ...anything } };
    expect(propertiesOf(raw)).toEqual(expected);
    if ($ref !== "") expect(repairsOf(raw)).toContain("removed /properties/a/$ref");
  });
});

describe("a reference to what it is part of is cut, and says what it would be", () => {
  const again = (words: string): string => `A value of this form again: ${words}.`;
  test.each<readonly [what: string, raw: JsonObject, properties: unknown]>([
    [
      "in items",
      {
        properties: { a: { $ref: "#/$defs/node" } },
        $defs: {
          node: {
            type: "object",
            properties: { v: string, next: { type: "array", items: { $ref: "#/$defs/node" } } },
            required: ["next"],
          },
        },
      },
      {
        a: {
          type: "object",
          properties: {
            v: string,
            next: { type: "array", items: { type: "object", description: again("{next: node[], v?: string}") } },
          },
          required: ["next"],
        },
      },
    ],
    [
      "to the whole",
      { properties: { a: { $ref: "#" }, b: string } },
      { a: { type: "object", description: again("{a?: the whole input, b?: string}") }, b: string },
    ],
    [
      "round about",
      {
        properties: { a: { $ref: "#/$defs/p" } },
        $defs: {
          p: { type: "object", properties: { q: { $ref: "#/$defs/q" } } },
          q: { properties: { p: { $ref: "#/$defs/p" } } },
        },
      },
      {
        a: {
          type: "object",
          properties: { q: { type: "object", properties: { p: { type: "object", description: again("{q?: q}") } } } },
        },
      },
    ],
    [
      "to nothing but itself",
      { properties: { a: { $ref: "#/$defs/p" } }, $defs: { p: { $ref: "#/$defs/p" } } },
      { a: { description: again("p"), ...anything } },
    ],
    [
      "in all of it",
      { properties: { a: { $ref: "#/$defs/p" } }, $defs: { p: { allOf: [{ $ref: "#/$defs/p" }, string] } } },
      { a: { type: "string", description: again("p & string") } },
    ],
  ])("%s", (_, raw, properties) => {
    expect(propertiesOf(raw)).toEqual(properties);
  });
});
