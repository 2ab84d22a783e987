import { describe, expect, test } from "vitest";
import { measure } from "../../../src/execute/validation/schema-cost.ts";

describe("the size of a value", () => {
  test.each<[unknown, number, number]>([
    [null, 1, 0],
    [true, 1, 0],
    [7, 1, 0],
    ["four", 1, 4],
    [[], 1, 0],
    [["a", "bc"], 3, 3],
    [{}, 1, 0],
    [{ ab: 1, c: "def" }, 3, 6],
    [{ list: [{ x: null }] }, 4, 5],
    // The count goes on after an `undefined` member.
    [{ list: ["abc"], none: undefined }, 4, 11],
    [[["abc"], undefined, null], 5, 3],
  ])("of %j is %i nodes and %i characters", (value, nodes, characters) => {
    expect(measure(value, { nodes: 100, characters: 100 })).toEqual({ nodes, characters });
    expect(measure(value, { nodes, characters })).toEqual({ nodes, characters });
    expect(measure(value, { nodes: nodes - 1, characters: 100 })).toBeUndefined();
    expect(measure(value, { nodes: 100, characters: characters - 1 })).toBeUndefined();
  });

  test("of what contains itself has no end", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(measure(circle, { nodes: 1000, characters: 1000 })).toBeUndefined();
  });
});
