// Runs tests of the copy again and again in one vitest: what does not change stays transformed.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";

/** A failure after this many milliseconds may be one of the machine, not of the mutant. */
const slow = 12_000;

/**
 * Milliseconds for one test or hook. The limit is shorter than in a usual run: many mutants hang a test, and a test that runs out of time
 * is repeated with and without the mutant before the mutant counts as killed.
 */
const testLimit = 15_000;

/** Runs the test files in the given order, nearest first: the run ends at its first failure. */
class GivenOrder {
  sort(specifications) {
    return specifications;
  }
  shard(specifications) {
    return specifications;
  }
}

/**
 * @returns `run(tests)`: `passed`, `failed` with the first failing test, or `timeout` if no test ended for `limit` milliseconds.
 * `isSlow` says that a failure may come from a busy machine.
 */
export async function createRunner(copy, { workers, limit }) {
  process.chdir(copy);
  const { createVitest } = await import(
    pathToFileURL(createRequire(join(copy, "package.json")).resolve("vitest/node")).href
  );
  let lastSign = 0;
  const sign = () => {
    lastSign = performance.now();
  };
  const listener = { onTestModuleStart: sign, onTestCaseResult: sign, onTestModuleEnd: sign };
  const silent = new PassThrough().resume();
  const vitest = await createVitest(
    "test",
    {
      root: copy,
      watch: false,
      bail: 1,
      reporters: [listener],
      maxWorkers: workers,
      fileParallelism: workers > 1,
      sequence: { sequencer: GivenOrder },
    },
    {},
    { stdout: silent, stderr: silent },
  );
  for (const { config } of vitest.projects) Object.assign(config, { testTimeout: testLimit, hookTimeout: testLimit });

  async function run(tests) {
    vitest.state.filesMap.clear();
    vitest.state.idMap.clear();
    vitest.state.errorsSet.clear();
    const specifications = tests.flatMap((test) =>
      vitest.projects
        .filter((project) => project.matchesTestGlob(test))
        .map((project) => project.createSpecification(test)),
    );
    if (specifications.length === 0) return { state: "passed" };
    const clock = { isOver: false };
    sign();
    const timer = setInterval(() => {
      if (clock.isOver || performance.now() - lastSign < limit) return;
      clock.isOver = true;
      // A loop without an end listens to nothing.
      for (const pid of workersOf(process.pid)) process.kill(pid, "SIGKILL");
      void vitest.cancelCurrentRun("keyboard-input");
    }, 1_000);
    try {
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
      if (clock.isOver) return { state: "timeout" };
      const failed = testModules.find((module) => module.state() === "failed");
      // The end of a run that gave up at its first failure can reach into the next one, and cancel it.
      const ran = testModules.filter((module) => module.state() === "passed").length;
      if (failed === undefined && unhandledErrors.length === 0 && ran < specifications.length)
        return { state: "cancelled" };
      if (failed === undefined && unhandledErrors.length === 0) return { state: "passed" };
      const test = failed && [...failed.children.allTests("failed")][0];
      return { state: "failed", by: failed?.moduleId, test: test?.fullName, isSlow: isPerhapsSlow(test) };
    } finally {
      clearInterval(timer);
    }
  }
  async function runWhole(tests) {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const outcome = await run(tests);
      await vitest.cancelPromise;
      if (outcome.state !== "cancelled") return outcome;
    }
    throw new Error(`these tests do not run: ${tests.join(", ")}`);
  }
  return {
    run: runWhole,
    /** To be called with each file that was written. */
    changed: (file) => vitest.invalidateFile(file),
    close: () => vitest.close(),
  };
}

/** A hook that failed, and a worker that could not be reached, are no test: both may be a matter of time. */
function isPerhapsSlow(test) {
  if (test === undefined || (test.diagnostic()?.duration ?? slow) >= slow) return true;
  return test.result().errors.some(({ message }) => /timed? ?out/i.test(message));
}

function workersOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" "))
      .filter((child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("vitest"))
      .map(Number);
  } catch {
    return [];
  }
}
