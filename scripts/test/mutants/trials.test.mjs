import { expect, test } from "vitest";
import { tryMutants } from "../../mutants/trials.mjs";

const files = (count) => Array.from({ length: count }, (_, at) => ({ file: `${at}.test.ts`, tests: [], ms: 1 }));

/** Tries the mutants. `answer` returns the result of each run; its second parameter is the number of the run. */
async function outcomes(candidates, answer) {
  const runs = [];
  const result = await tryMutants(
    candidates,
    async (trials) => {
      runs.push(trials.map(({ number, file }) => `${number} ${file}`));
      return answer(trials, runs.length);
    },
    { workers: 1, report: () => {} },
  );
  return { result, runs };
}

const ended = (state) => (trials) => ({
  rows: trials.flatMap(({ number, file }) => [
    { number, file },
    { number, file, state, by: "a title" },
  ]),
  isHung: false,
});

test("a mutant is tried with one test file, then with up to five, then with up to forty", async () => {
  const { result, runs } = await outcomes([files(50)], ended("survived"));
  expect(result).toEqual([{ state: "survived" }]);
  expect(runs.map((run) => run.length)).toEqual([1, 4, 35]);
  expect(new Set(runs.flat()).size).toBe(40);
});

test("a killed mutant is not tried again, and a mutant that no test reaches has survived", async () => {
  const { result, runs } = await outcomes([files(3), []], ended("killed"));
  expect(result).toEqual([{ state: "killed", by: "0.test.ts", test: "a title" }, { state: "survived" }]);
  expect(runs).toEqual([["0 0.test.ts"]]);
});

test("tests that are left out because they fail without a mutant are not tried again", async () => {
  const { result, runs } = await outcomes([files(1)], () => ({ rows: [{}], isHung: false }));
  expect([result, runs.length]).toEqual([[{ state: "survived" }], 1]);
});

test.each([
  [true, "timeout"],
  [false, "killed"],
])(
  "a mutant with which the test process ends or hangs twice has not survived (the process hangs: %s)",
  async (isHung, state) => {
    const broken = (trials) => ({ rows: [trials[0]], isHung });
    const { result, runs } = await outcomes([files(1)], broken);
    expect([result, runs.length]).toEqual([[{ state, by: "0.test.ts" }], 2]);
  },
);

test("after a mutant that makes tests fail also without it, the next mutants are tried in a new process", async () => {
  const spoiled = ([first]) => ({
    rows: [first, { number: first.number, file: first.file, state: "killed", by: "a title" }, { isSpoiled: true }],
    isHung: false,
  });
  const { result, runs } = await outcomes([files(1), files(1)], spoiled);
  expect(result.map(({ state }) => state)).toEqual(["killed", "killed"]);
  expect(runs).toEqual([["0 0.test.ts", "1 0.test.ts"], ["1 0.test.ts"]]);
});
