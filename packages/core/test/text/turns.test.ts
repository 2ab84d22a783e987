import { expect, test } from "vitest";
import { createTurns, nextTurn, runAtOnce, runInTurns, type Sliced } from "../../src/text/turns.ts";

test("small work goes on at once; after so much of it, the rest of the program has its turn", async () => {
  const turns = createTurns(100);
  expect([40, 40].map((size) => turns.done(size))).toEqual([undefined, undefined]);
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  await turns.done(40);
  expect(others).toBe(1);
  expect(turns.done(40)).toBeUndefined();
});

test("a slice ends when exactly its size is done, and the next one begins at zero", async () => {
  const turns = createTurns(100);
  expect(turns.done(99)).toBeUndefined();
  await expect(turns.done(1)).resolves.toBeUndefined();
  expect(turns.done(99)).toBeUndefined();
});

test("a slice is 64 Ki characters unless the caller says otherwise", async () => {
  const turns = createTurns();
  expect(turns.done(65_535)).toBeUndefined();
  const pause = turns.done(1);
  expect(pause).toBeInstanceOf(Promise);
  await pause;
});

function* counted(steps: string[]): Sliced<string> {
  for (const name of ["first", "second", "third"]) {
    steps.push(name);
    yield undefined;
  }
  return "done";
}

test("all slices run at once for a caller that cannot wait", () => {
  const steps: string[] = [];
  expect(runAtOnce(counted(steps))).toBe("done");
  expect(steps).toEqual(["first", "second", "third"]);
});

test("one slice runs in each turn, with the caller's own work between them", async () => {
  const steps: string[] = [];
  const result = runInTurns(counted(steps), () => false);
  steps.push("own");
  await nextTurn();
  steps.push("own");
  await expect(result).resolves.toBe("done");
  expect(steps).toEqual(["first", "own", "second", "own", "third"]);
});

test("no further slice runs once the result is outdated", async () => {
  const steps: string[] = [];
  await expect(runInTurns(counted(steps), () => steps.length === 2)).resolves.toBeUndefined();
  expect(steps).toEqual(["first", "second"]);
});
