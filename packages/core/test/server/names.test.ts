import { createHash } from "node:crypto";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateValidName } from "../../src/normalise/tool-name.ts";
import { type Claim, type NameRules, nameItems, Pins } from "../../src/server/names.ts";
import { acceptable, awkwardName } from "../support/adversarial-names.ts";

describe("a valid name", () => {
  test.each([
    ["read_file", "read_file"],
    ["Read.File-2", "Read.File-2"],
    ["read file", "read_file"],
    ["ns:tool/x", "ns_tool_x"],
    ["🙂", "__"],
    ["é", "_"],
    ["!@#", "___"],
    ["", ""],
    // Left to `nameItems`.
    ["9lives", "9lives"],
    [".hidden", ".hidden"],
    ["x".repeat(63), "x".repeat(63)],
    [`${"a".repeat(30)}${"b".repeat(34)}`, `${"a".repeat(28)}___${"b".repeat(32)}`],
    [`${"a".repeat(100)} ${"b".repeat(31)}`, `${"a".repeat(28)}____${"b".repeat(31)}`],
  ])("of %j is %j", (name, expected) => {
    expect(generateValidName(name)).toBe(expected);
  });
});

const assignNames = (claims: readonly Claim[], rules?: NameRules): readonly string[] =>
  [...nameItems(claims, (claim) => claim, rules)].map(([as]) => as);

/** `server/name`, in rank order. */
const claims = (...pairs: readonly string[]): readonly Claim[] =>
  pairs.map((pair) => {
    const [server = "", name = ""] = pair.split("/");
    return { server, name };
  });
const digest = (...pair: readonly string[]) =>
  createHash("sha256").update(JSON.stringify(pair)).digest("hex").slice(0, 8);

describe("names are given in rank order", () => {
  test.each([
    ["different names stay bare", ["a/x", "b/y"], ["x", "y"]],
    ["the first keeps the bare name", ["a/x", "b/x", "c/x"], ["x", "b__x", "c__x"]],
    ["also within a server", ["a/x y", "a/x_y"], ["x_y", "a__x_y"]],
    [
      "a letter or an underscore comes first",
      ["a/1", "a/.x", "a/-x", "a/_x", "1/1"],
      ["_1", "_.x", "_-x", "_x", "_1__1"],
    ],
    ["a bare a__b before b of a", ["x/a__b", "y/b", "a/b"], ["a__b", "b", `_${digest("a", "b")}`]],
    ["b of a before a bare a__b", ["y/b", "a/b", "x/a__b"], ["b", "a__b", "x__a__b"]],
    ["a bare a__b and no other item named b", ["a/b", "x/a__b"], ["b", "a__b"]],
    ["nothing that objects inherit is taken", ["a/__proto__", "b/constructor"], ["__proto__", "constructor"]],
  ])("%s", (_, pairs, expected) => {
    expect(assignNames(claims(...pairs))).toEqual(expected);
  });

  test("where the qualified name is taken too, its end makes room for a digest of the pair", () => {
    const tool = "t".repeat(200);
    const qualified = `server__${"t".repeat(20)}___${"t".repeat(32)}`;
    expect(
      assignNames([
        { server: "x", name: qualified },
        { server: "y", name: tool },
        { server: "server", name: tool },
      ]),
    ).toEqual([
      qualified,
      `${"t".repeat(28)}___${"t".repeat(32)}`,
      `${qualified.slice(0, -9)}_${digest("server", tool)}`,
    ]);
  });

  test("where even that is taken, there is another digest, the same every time", () => {
    const taken = claims("x/a__b", "y/b", `z/_${digest("a", "b")}`, "a/b");
    const [, , , name] = assignNames(taken);
    expect(name).toMatch(/^_[0-9a-f]{8}$/);
    expect(name).not.toBe(`_${digest("a", "b")}`);
    expect(assignNames(taken)[3]).toBe(name);
  });
});

test("a wish comes before the bare name, and gives way like one", () => {
  const wished: readonly Claim[] = [
    { server: "a", name: "x", wish: "find it" },
    { server: "b", name: "y", wish: "find_it" },
    { server: "c", name: "x" },
  ];
  expect(assignNames(wished)).toEqual(["find_it", "b__y", "x"]);
});

test("a alwaysQualified server never takes a bare name, wanted or not", () => {
  const formOf = (server: string) => (server === "demo" ? "qualified" : "bare");
  expect(assignNames(claims("demo/x", "a/x", "demo/y"), { formOf })).toEqual(["demo__x", "x", "demo__y"]);
});

test("a pinned name stays with its pair and goes to no other, whether the pair is there or not", () => {
  const pins = [
    { server: "b", name: "x", as: "x" },
    { server: "gone", name: "y", as: "y" },
  ];
  expect(assignNames(claims("a/x", "b/x", "a/y"), { pins: new Pins(pins) })).toEqual(["a__x", "x", "a__y"]);
});

test("whatever the names, all are acceptable, all different, and the same for the same claims", () => {
  const pair = fc.record({ server: awkwardName, name: awkwardName });
  const list = fc.uniqueArray(pair, { maxLength: 40, selector: ({ server, name }) => JSON.stringify([server, name]) });
  fc.assert(
    fc.property(list, fc.func(fc.constantFrom("bare", "qualified")), (random, formOf) => {
      const names = assignNames(random, { formOf });
      expect(names.filter((name) => !acceptable.test(name))).toEqual([]);
      expect(new Set(names).size).toBe(random.length);
      expect(assignNames(random, { formOf })).toEqual(names);
    }),
    { numRuns: scaled(10_000, 300), seed: seed() },
  );
});

test("what was pinned stays, and what comes later takes nothing of it", () => {
  const pair = fc.record({ server: awkwardName, name: awkwardName });
  const list = fc.uniqueArray(pair, {
    minLength: 1,
    maxLength: 20,
    selector: (claim) => JSON.stringify(Object.values(claim)),
  });
  fc.assert(
    fc.property(list, list, (before, after) => {
      const shown = new Map(assignNames(before).map((as, at) => [as, JSON.stringify(before[at])]));
      const pins = new Pins(assignNames(before).map((as, at) => ({ ...(before[at] ?? { server: "", name: "" }), as })));
      assignNames(after, { pins }).forEach((name, at) => {
        expect(shown.get(name) ?? JSON.stringify(after[at])).toBe(JSON.stringify(after[at]));
      });
      expect(new Set(assignNames(after, { pins })).size).toBe(after.length);
    }),
    { numRuns: scaled(10_000, 300), seed: seed() },
  );
});

describe("the names that a reader has seen", () => {
  const pin = (server: string, name: string, as: string) => ({ server, name, as });

  test("stay, whatever a tool wishes later", () => {
    const seen = new Pins([pin("a", "x", "x"), pin("b", "x", "b__x")]);
    expect(seen.all).toEqual([pin("a", "x", "x"), pin("b", "x", "b__x")]);
    const later = [{ server: "a", name: "x", wish: "other" }, ...claims("b/y")];
    expect(assignNames(later, { pins: seen, formOf: () => "qualified" })).toEqual(["x", "b__y"]);
    expect(seen.ownerOf("b__y")).toBeUndefined();
  });

  test("are given only once", () => {
    const seen = new Pins();
    expect(seen.pin(pin("a", "x", "b__y"))).toBe(true);
    expect(seen.pin(pin("c", "z", "b__y"))).toBe(false);
    expect(seen.pin(pin("a", "x", "b__y"))).toBe(true);
    expect(seen.all).toEqual([pin("a", "x", "b__y")]);
    expect(assignNames(claims("b/y", "c/z"), { pins: seen, formOf: () => "qualified" })).toEqual([
      `_${digest("b", "y")}`,
      "c__z",
    ]);
  });

  test("do not grow without end: a server that renames its tools again and again gets no more names", () => {
    const seen = new Pins();
    const name = "n".repeat(1000);
    let count = 0;
    while (seen.pin(pin("a", `${name}${count}`, `${count}`))) count += 1;
    expect(count).toBeGreaterThan(1000);
    expect(count).toBeLessThan(5000);
    expect(seen.pin(pin("a", `${name}0`, "0"))).toBe(true);
    expect(seen.ownerOf(`${count}`)).toBeUndefined();
    expect(seen.pin(pin("b", "x", "x"))).toBe(true);
  });
});
