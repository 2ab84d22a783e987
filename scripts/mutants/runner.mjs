// Runs tests of the copy again and again in one vitest: what does not change stays transformed.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";

/** @returns `run(tests, limit)`: `passed`, `failed` with the first failing test, or `timeout`. */
export async function createRunner(copy, { workers }) {
  process.chdir(copy);
  const { createVitest } = await import(
    pathToFileURL(createRequire(join(copy, "package.json")).resolve("vitest/node")).href
  );
  const silent = new PassThrough().resume();
  const vitest = await createVitest(
    "test",
    { root: copy, watch: false, bail: 1, reporters: [{}], maxWorkers: workers, fileParallelism: workers > 1 },
    {},
    { stdout: silent, stderr: silent },
  );

  async function run(tests, limit) {
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
    const timer = setTimeout(() => {
      clock.isOver = true;
      // A loop without an end listens to nothing.
      for (const pid of workersOf(process.pid)) process.kill(pid, "SIGKILL");
      void vitest.cancelCurrentRun("keyboard-input");
    }, limit);
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
      return { state: "failed", by: failed?.moduleId, test: test?.fullName };
    } finally {
      clearTimeout(timer);
    }
  }
  async function runWhole(tests, limit) {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const outcome = await run(tests, limit);
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
