import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { FunctionDeclaration } from "../../src/normalise/model-types.ts";
import { findCulprit } from "../../src/turn/refused-tools.ts";

const declare = (count: number): FunctionDeclaration[] =>
  Array.from({ length: count }, (_, index) => ({ name: `t${index}`, description: "", parametersJsonSchema: {} }));

/** Refuses whatever holds one of these; counts how often it is asked. */
function api(isRefused: (names: readonly string[]) => boolean) {
  const asked: number[] = [];
  return {
    asked,
    probe: async (declarations: readonly FunctionDeclaration[]) => {
      asked.push(declarations.length);
      return !isRefused(declarations.map(({ name }) => name));
    },
  };
}

test("one bad declaration among any number is found with one request for each time they can be halved, and one more at most", async () => {
  const among = fc.integer({ min: 1, max: 600 }).chain((count) => fc.tuple(fc.constant(count), fc.nat(count - 1)));
  await fc.assert(
    fc.asyncProperty(among, async ([count, bad]) => {
      const { probe, asked } = api((names) => names.includes(`t${bad}`));
      expect(await findCulprit(declare(count), probe)).toEqual({ kind: "declaration", index: bad });
      expect(asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 1);
    }),
    { seed: seed(), numRuns: scaled(1000) },
  );
});

test("of several bad ones one is found, and never one that is good", async () => {
  const some = fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(some, async (bad) => {
      const { probe } = api((names) => names.some((name) => bad.includes(Number(name.slice(1)))));
      const found = await findCulprit(declare(100), probe);
      expect(found.kind === "declaration" && bad.includes(found.index)).toBe(true);
    }),
    { seed: seed(), numRuns: scaled(500) },
  );
});

test("what has passed before is no suspect", async () => {
  const { probe, asked } = api((names) => names.includes("t97"));
  const isProven = ({ name }: FunctionDeclaration): boolean => Number(name.slice(1)) < 96;
  expect(await findCulprit(declare(100), probe, isProven)).toEqual({ kind: "declaration", index: 97 });
  expect(asked.length).toBeLessThanOrEqual(3);
});

test("where all are too much together, as many as pass are kept; where it is not about them, no tool is blamed", async () => {
  const crowded = api((names) => names.length > 60);
  expect(await findCulprit(declare(100), crowded.probe)).toEqual({ kind: "too_many", passing: 50 });
  const isProven = (): boolean => true;
  expect(await findCulprit(declare(100), crowded.probe, isProven)).toEqual({ kind: "too_many", passing: 50 });
  const innocent = api(() => false);
  expect(await findCulprit(declare(100), innocent.probe)).toEqual({ kind: "none" });
  expect(await findCulprit([], innocent.probe)).toEqual({ kind: "none" });
});
