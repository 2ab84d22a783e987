// Decides whether the tests notice a mutant. A failure that only comes from a busy machine does not count.

/** How often a step is tried again if its failure could not be repeated. */
const mostTries = 3;

/**
 * Creates the judge. `run(tests)` runs tests on the unchanged source, `runMutated(tests)` with the mutant. Both return
 * `passed`, `failed` or `timeout`. `isSlow` says that time may have run out; `by` names the failing test file.
 */
export function createJudge({ run, report }) {
  /** Whether each test file passes without a mutant, by file. */
  const soundness = new Map();

  /** A test that fails without a mutant, and not for lack of time, is left out from then on. */
  async function isSound(test) {
    let why = "";
    for (let tries = 0; tries < mostTries && !soundness.has(test); tries += 1) {
      const outcome = await run([test]);
      why = outcome.test ?? "";
      if (outcome.state === "passed") soundness.set(test, true);
      else if (!outcome.isSlow && tries > 0) soundness.set(test, false);
    }
    if (soundness.get(test) !== true) report(`not counted, it fails without a mutant: ${test} ${why}`);
    return soundness.get(test) === true;
  }

  async function step(tests, runMutated) {
    for (let tries = 0; tries < mostTries; ) {
      const outcome = await runMutated(tests.filter((test) => soundness.get(test) !== false));
      const { state, by, test } = outcome;
      if (state === "passed") return undefined;
      if (state === "failed" && !outcome.isSlow) {
        if (await isSound(by)) return { state: "killed", by, test };
        tries += 1;
        continue;
      }
      /*
       * After a timeout, the mutant is the cause only if the same tests are in time without it and again too slow with
       * it.
       */
      const failing = by === undefined ? tests : [by];
      const isInTime = (await run(failing)).state === "passed";
      const again = isInTime ? await runMutated(failing) : outcome;
      if (isInTime && again.state !== "passed")
        return {
          state: again.state === "timeout" ? "timeout" : "killed",
          by: again.by ?? by,
          test: again.test ?? test,
        };
      tries += 1;
      // A test that cannot be in time on this machine would cost the same time again with every mutant.
      if (by !== undefined && !isInTime) soundness.set(by, false);
      report(`not counted, the machine was too busy: ${failing.join(", ")}`);
    }
    return undefined;
  }

  /** Runs the nearest tests first. Each step ends after this number of tests. */
  return async function judge(tests, steps, runMutated) {
    let from = 0;
    for (const to of steps) {
      const some = tests.slice(from, to);
      const kill = some.length === 0 ? undefined : await step(some, runMutated);
      if (kill !== undefined) return kill;
      from = to;
    }
    return { state: "survived" };
  };
}
