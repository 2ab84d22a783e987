// Tries the mutants: starts vitest with a plan and reads the rows that the test runner writes. If a mutant breaks the test
// process, starts vitest again with the other mutants.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The tests hang if the test runner writes no row for this many milliseconds. */
const limit = 60_000;
/** How many test files of a mutant have been tried at the end of each round. Most mutants do not survive the first round. */
const rounds = [1, 5, 40];
/** A mutant with which the test process ends or hangs this many times has not survived. */
const mostBreaks = 2;

/**
 * Starts vitest in the copy with a plan for the test runner.
 *
 * @returns The rows that the test runner wrote, and whether the tests hung.
 */
export async function runVitest(copy, name, plan) {
  const [planFile, out, log] = ["json", "rows", "log"].map((ending) => join(copy, "..", `${name}.${ending}`));
  writeFileSync(planFile, JSON.stringify({ copy, out, ...plan }));
  writeFileSync(out, "");
  const vitest = ["vitest.mjs", "run", "--config", join(copy, "scripts/mutants/vitest.config.mjs")];
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [join(copy, "node_modules/vitest", vitest[0]), ...vitest.slice(1)], {
    cwd: copy,
    // In a process group of its own, so that vitest and all processes that it starts can be ended.
    detached: true,
    stdio: ["ignore", output, output],
    env: { ...process.env, MUTANTS_PLAN: planFile, CI: "true" },
  });
  let isHung = false;
  let [size, since] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = statSync(out).size;
    if (now !== size) [size, since] = [now, performance.now()];
    // Before the first row, vitest compiles and bundles the sources.
    isHung = size > 0 && performance.now() - since > limit;
    if (isHung || rowsOf(out).at(-1)?.isSpoiled) endGroup(child.pid);
  }, 1_000);
  await once(child, "exit");
  clearInterval(timer);
  endGroup(child.pid);
  const rows = rowsOf(out);
  if (rows.length === 0) throw new Error(`vitest ran no test: ${readFileSync(log, "utf8").slice(-2000)}`);
  return { rows, isHung };
}

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The processes have ended.
  }
}

/** Returns the complete rows. The text after the last line break is left out: its row is still being written. */
function rowsOf(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/**
 * Tries each mutant with its candidates until a test fails. `run(trials, name)` runs some trials.
 *
 * @returns For each mutant: `killed` with the test file and, if known, the test; `timeout` with the test file; or `survived`.
 */
export async function tryMutants(candidates, run, { workers, report }) {
  const outcomes = candidates.map(() => undefined);
  const tried = candidates.map(() => new Set());
  const breaks = candidates.map(() => 0);

  async function runSome(trials, name) {
    const { rows, isHung } = await run(trials, name);
    const ended = rows.filter(({ state }) => state !== undefined);
    for (const { number, file, state, by } of ended) {
      tried[number].add(file);
      if (state === "killed") outcomes[number] ??= { state, by: file, test: by };
    }
    const begun = rows.findLast(({ number }) => number !== undefined);
    const isWhole = !isHung && !rows.some(({ isSpoiled }) => isSpoiled);
    if (begun !== undefined && begun.state === undefined) {
      const { number, file } = begun;
      breaks[number] += 1;
      if (breaks[number] === mostBreaks) outcomes[number] = { state: isHung ? "timeout" : "killed", by: file };
    } else if (isWhole) for (const { number, file } of trials) tried[number].add(file);
  }

  for (const most of rounds)
    for (;;) {
      const trials = candidates.flatMap((list, number) =>
        list
          .slice(0, most)
          .filter(({ file }) => outcomes[number] === undefined && !tried[number].has(file))
          .map((candidate) => ({ number, ...candidate })),
      );
      if (trials.length === 0) break;
      report(
        `${new Set(trials.map(({ number }) => number)).size} mutants to try in ${trials.length} trials, each with one test file`,
      );
      await Promise.all(shared(trials, workers).map((some, index) => runSome(some, `try-${index}`)));
    }
  return outcomes.map((outcome) => outcome ?? { state: "survived" });
}

/** Gives each worker about the same work, and all trials of a test file to one worker, which loads it once. */
function shared(trials, workers) {
  const shares = Array.from({ length: workers }, () => ({ trials: [], ms: 0 }));
  for (const file of new Set(trials.map((trial) => trial.file))) {
    const own = trials.filter((trial) => trial.file === file);
    const [least] = shares.toSorted((one, other) => one.ms - other.ms);
    least.trials.push(...own);
    least.ms += own.reduce((sum, { ms }) => sum + ms, 500);
  }
  return shares.filter((share) => share.trials.length > 0).map((share) => share.trials);
}
