/*
 * Runs in each test process. Step "reach" runs the tests as usual and writes down which tests reach which mutants. Step
 * "try" runs, for each mutant of the plan, the tests that reach it, with the mutant switched on.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { TestRunner } from "vitest";
import { startTests } from "vitest/internal/browser";

const { copy, step, trials, out } = JSON.parse(readFileSync(process.env.MUTANTS_PLAN, "utf8"));
/** The time limit of a test: `factor` times the duration of the longest test that runs with it, and `ms` milliseconds. */
const timeLimit = { factor: 10, ms: 3_000 };
/** The modules that are loaded again for a mutant in code that runs while a module is loaded. */
const ownModules = /\/packages\/(?:wire|core|cli|gateway)\/(?:src|test)\//;

const write = (row) => appendFileSync(out, `${JSON.stringify(row)}\n`);
const switches = () => globalThis.$mutants;

export default class extends TestRunner {
  /** The ids of the tests that pass in this process without a mutant. */
  #passing = new Set();
  /** The numbers of the mutants that a test of this process has killed. */
  #killed = new Set();

  onBeforeRunFiles([file]) {
    if (step === "try") for (const test of testsOf(file)) test.mode = "skip";
    else write({ file: relative(copy, file.filepath), loaded: takeReached(), modules: this.#modulesOf(file.filepath) });
  }

  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    if (step !== "reach" || test.result?.state !== "pass") return;
    const file = relative(copy, test.file.filepath);
    write({ file, test: test.id, ms: Math.ceil(test.result.duration), reached: takeReached() });
  }

  // oxlint-disable-next-line typescript/no-misused-promises -- The caller awaits the result of this hook.
  async onAfterRunFiles(files) {
    if (step === "try") await this.#tryMutants(files[0].filepath);
    super.onAfterRunFiles(files);
  }

  async #tryMutants(path) {
    const own = trials[relative(copy, path)] ?? [];
    for (const isReloaded of [false, true]) {
      const some = own.filter((trial) => trial.isReloaded === isReloaded);
      const tests = new Map(some.flatMap((trial) => trial.tests.map((test) => [test.id, test])));
      if (tests.size === 0) continue;
      const failed = await this.#run(path, [...tests.values()], { active: -1, isReloaded });
      for (const id of tests.keys()) if (!failed.some((test) => test.id === id)) this.#passing.add(id);
      for (const trial of some) await this.#tryMutant(path, trial);
    }
  }

  async #tryMutant(path, { number, tests, isReloaded }) {
    const passing = tests.filter(({ id }) => this.#passing.has(id));
    if (passing.length === 0 || this.#killed.has(number)) return;
    write({ number, file: relative(copy, path) });
    const withMutant = { active: number, isReloaded };
    let first = (await this.#run(path, passing, withMutant)).at(0);
    // On a busy machine any test can time out. The mutant is the cause only if a test also fails in a second run with the
    // mutant, and no test fails without it.
    if (first?.isTimedOut) {
      const failed = await this.#run(path, passing, { ...withMutant, active: -1 });
      first = failed.length === 0 ? (await this.#run(path, passing, withMutant)).at(0) : undefined;
    }
    write({ number, file: relative(copy, path), state: first === undefined ? "survived" : "killed", by: first?.name });
    if (first === undefined) return;
    this.#killed.add(number);
    // The mutant may have changed state in this process that makes tests fail also without it. Then the script starts a
    // new process for the next mutants.
    const same = passing.filter(({ id }) => id === first.id);
    const failed = await this.#run(path, same.length === 0 ? passing : same, { ...withMutant, active: -1 });
    if (failed.length > 0) write({ isSpoiled: true });
  }

  /** Runs these tests and returns those that failed. With a mutant, the run ends at the first failure. */
  async #run(path, tests, { active, isReloaded }) {
    const failed = [];
    const longest = Math.max(...tests.map(({ ms }) => ms));
    const limit = timeLimit.ms + timeLimit.factor * longest;
    Object.assign(this.config, { testTimeout: limit, hookTimeout: limit });
    this.#forget((id) => id === path || (isReloaded && ownModules.test(id)));
    const runner = Object.assign(Object.create(this), {
      onBeforeRunFiles: () => {},
      onAfterRunFiles: () => this.snapshotClient.clear(),
      onCollectStart: (file) => super.onCollectStart(file),
      onBeforeRunTask: async (test) => {
        if (active >= 0 && failed.length > 0) test.mode = "skip";
        await super.onBeforeRunTask(test);
      },
      onAfterRunTask: (test) => {
        super.onAfterRunTask(test);
        // The script sees from this row that the tests do not hang.
        write({});
        if (test.result?.state === "fail") failed.push(failureOf(test));
      },
      // These runs are not reported to the main process of vitest.
      onCollected: () => {},
      onTaskUpdate: () => {},
    });
    switches().active = active;
    try {
      const [file] = await startTests([{ filepath: path, testIds: tests.map(({ id }) => id) }], runner);
      if (failed.length === 0 && file.result?.state === "fail") failed.push(failureOf(file));
    } finally {
      switches().active = -1;
    }
    return failed;
  }

  /** Makes the next import of these modules run them again. */
  #forget(isForgotten) {
    for (const [id, module] of this.workerState.evaluatedModules.idToModuleMap)
      if (isForgotten(id.split("?")[0]))
        Object.assign(module, { promise: undefined, exports: undefined, evaluated: false });
  }

  /** The modules that a test file loads, directly and indirectly. */
  #modulesOf(path) {
    const { idToModuleMap } = this.workerState.evaluatedModules;
    const found = new Set([path]);
    for (const id of found)
      for (const each of idToModuleMap.get(id)?.imports ?? []) if (ownModules.test(each)) found.add(each);
    return [...found].map((id) => relative(copy, id));
  }
}

function testsOf(task) {
  return task.tasks.flatMap((each) => (each.type === "test" ? [each] : testsOf(each)));
}

function takeReached() {
  const reached = [...switches().reached];
  switches().reached.clear();
  return reached;
}

function failureOf({ id, name, result }) {
  return { id, name, isTimedOut: /timed out/.test(result.errors?.[0]?.message ?? "") };
}
