// Makes small mistakes in a copy of the sources, one at a time, and runs the tests: npm run mutants -- --help
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileDeclarations, firstAccepted, refusedMutants } from "./mutants/compiler.mjs";
import { copyCheckout } from "./mutants/copy.mjs";
import { mutantsOf } from "./mutants/operators.mjs";
import { candidatesOf } from "./mutants/reach.mjs";
import { folderOf, sampled, summary } from "./mutants/sample.mjs";
import { runVitest, tryMutants } from "./mutants/trials.mjs";

const help = `usage: npm run mutants -- [options]

Makes small mistakes (mutants) in a copy of HEAD, one at a time, and runs the tests that reach them. A mutant is killed when
a test fails, or when its tests hang twice and do not hang without it. A mutant that no test notices has survived. Mutants
with a type error are not counted.

  --count N        how many mutants to try (default: 300; with --at: all)
  --seed S         chooses the mutants: the same seed on the same sources chooses the same (default: from the clock)
  --folder F       only the mutants of this folder, for example core/policy; may be repeated (default: wire, core, cli and gateway)
  --at FILE[:LINE] only the mutants of this file or line, for example core/src/errors.ts:12; may be repeated
  --again FILE     only the mutants that survived an earlier run, which wrote this file with --json
  --tests GLOB     only these test files, for example "packages/core/test/policy/**"; may be repeated (default: all)
  --workers N      how many test files run at the same time (default: 2)
  --json FILE      writes every result to this file
  -h, --help       shows this text

The copy has no uncommitted changes: commit first.
`;
const values = options();
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const root = fileURLToPath(new URL("..", import.meta.url));

const { copy, remove } = copyCheckout(root);
process.on("exit", remove);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    process.stdout.write(`ended by ${signal}\n`);
    process.exit(1);
  });

const sources = execFileSync("git", ["ls-files", "packages"], { cwd: copy, encoding: "utf8" })
  .split("\n")
  .filter((file) => /^packages\/(?:wire|core|cli|gateway)\/src\/.*[.]tsx?$/.test(file));
const wanted = sources.filter(
  (file) =>
    values.folder.length === 0 || values.folder.some((folder) => folderOf(file, folder.split("/").length) === folder),
);
const places = new Set(values.at.map((place) => `packages/${place}`));
const all = wanted
  .flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), "utf8")))
  .filter(({ file, line }) => places.size === 0 || places.has(file) || places.has(`${file}:${line}`));
const order = values.again === undefined ? sampled(all, all.length, values.seed) : survivorsIn(values.again);
const count = values.count ?? (places.size > 0 || values.again !== undefined ? order.length : 300);
compileDeclarations(copy);
const { chosen, refused } = firstAccepted(order, Number(count), (mutants) => refusedMutants(copy, mutants));
process.stdout.write(
  `seed ${values.seed}: ${chosen.length} of ${all.length} mutants in ${wanted.length} files (${refused} others have a type error)\n`,
);

const report = (text) => process.stdout.write(`${new Date().toTimeString().slice(0, 8)} ${text}\n`);
report("running the tests once, to see which of them reach which mutants");
const workers = Number(values.workers);
const { rows } = await runVitest(copy, "reach", { step: "reach", mutants: chosen, files: values.tests, workers });
const candidates = candidatesOf(chosen, rows);
report(`${candidates.filter((list) => list.length === 0).length} mutants are reached by no test`);
const runTrials = (trials, name) => {
  const byFile = Object.fromEntries(trials.map(({ file }) => [file, trials.filter((trial) => trial.file === file)]));
  const files = Object.keys(byFile);
  return runVitest(copy, name, { step: "try", mutants: chosen, files, workers: 1, trials: byFile });
};
const outcomes = await tryMutants(candidates, runTrials, { workers, report });
const results = chosen.map((mutant, number) => ({
  ...mutant,
  ...outcomes[number],
  isReached: candidates[number].length > 0,
}));
if (values.json) writeFileSync(values.json, JSON.stringify({ seed: values.seed, results }, undefined, 2));
process.stdout.write(summary(results));
process.exit(0);

/** Returns the mutants that survived an earlier run. They are found by file and change, because lines may have moved. */
function survivorsIn(file) {
  const survivors = JSON.parse(readFileSync(file, "utf8")).results.filter(({ state }) => state === "survived");
  const isSame = (one, other) => ["file", "kind", "original", "replacement"].every((key) => one[key] === other[key]);
  return survivors.flatMap((survivor) => {
    const [nearest] = all
      .filter((mutant) => isSame(mutant, survivor))
      .sort((one, other) => Math.abs(one.line - survivor.line) - Math.abs(other.line - survivor.line));
    return nearest === undefined ? [] : [nearest];
  });
}

function options() {
  try {
    return parseArgs({
      options: {
        count: { type: "string" },
        seed: { type: "string", default: String(Date.now() % 100_000) },
        at: { type: "string", multiple: true, default: [] },
        folder: { type: "string", multiple: true, default: [] },
        again: { type: "string" },
        tests: { type: "string", multiple: true },
        json: { type: "string" },
        workers: { type: "string", default: "2" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error.message}\nnext: npm run mutants -- --help\n`);
    process.exit(2);
  }
}
