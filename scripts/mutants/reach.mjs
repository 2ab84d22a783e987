// Chooses the tests for each mutant. The tests that are most likely to fail with the mutant come first.
import { basename, dirname } from "node:path";

/** After this many milliseconds of tests in one test file, its longer tests are left out for the mutant. */
const maxMsPerFile = 10_000;

/**
 * Reads the rows that the test runner wrote in step "reach".
 *
 * @returns For each mutant its candidates, best first. A candidate is a test file with the tests that reach the mutant.
 * Code outside of functions, and each function that only such code calls, runs once for all tests, when its module is
 * loaded. For a mutant there, `isReloaded` is true, and the tests are all tests of the files that load its module.
 */
export function candidatesOf(mutants, rows) {
  const files = new Map();
  for (const { file, test, ms, reached, modules } of rows) {
    const known = files.get(file) ?? { file, modules: new Set(), tests: [] };
    files.set(file, known);
    for (const module of modules ?? []) known.modules.add(module);
    if (test !== undefined) known.tests.push({ id: test, ms, reached: new Set(reached) });
  }
  const loaded = new Set(rows.flatMap((row) => row.loaded ?? []));
  return mutants.map((mutant, number) => {
    const isReached = (test) => test.reached.has(number);
    const reaching = [...files.values()].filter(({ tests }) => tests.some(isReached));
    const isReloaded = mutant.isTopLevel || (reaching.length === 0 && loaded.has(number));
    const loading = [...files.values()].filter(({ modules }) => isReloaded && modules.has(mutant.file));
    return [...new Set([...reaching, ...loading])]
      .flatMap((known) => candidate(known, mutant, isReloaded, isReloaded ? () => true : isReached))
      .sort((one, other) => other.score - one.score);
  });
}

function candidate({ file, modules, tests }, mutant, isReloaded, isReaching) {
  const chosen = [];
  let sum = 0;
  for (const { id, ms } of tests.filter(isReaching).toSorted((one, other) => one.ms - other.ms)) {
    if (sum > maxMsPerFile) break;
    sum += ms;
    chosen.push({ id, ms });
  }
  if (chosen.length === 0) return [];
  const size = isReloaded ? modules.size : sum;
  return [{ file, isReloaded, tests: chosen, ms: sum, score: nearness(file, mutant.file) - Math.log10(5 + size) }];
}

/** How near a test file is to a source file by name and folder: core/test/auth/a.test.ts is near to core/src/auth/a.ts. */
function nearness(test, source) {
  const [, testPackage, , ...testFolders] = dirname(test).split("/");
  const [, sourcePackage, , ...sourceFolders] = dirname(source).split("/");
  if (testPackage !== sourcePackage) return -1;
  const [testName, sourceName] = [test, source].map((file) => basename(file).replace(/(?:[.]test)?[.]tsx?$/, ""));
  const shared = testFolders.filter((folder, at) => folder === sourceFolders[at]).length;
  const isBeside = testName.startsWith(`${sourceName}-`) || sourceName.startsWith(`${testName}-`);
  return 0.7 * shared + (testName === sourceName ? 4 : isBeside ? 2 : 0);
}
