// Makes small mistakes in a copy of the sources, one at a time, and runs the tests: npm run mutants -- --help
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileDeclarations, firstAccepted, refusedMutants } from "./mutants/compiler.mjs";
import { copyCheckout } from "./mutants/copy.mjs";
import { mutantsOf } from "./mutants/operators.mjs";
import { help, readOptions } from "./mutants/options.mjs";
import { candidatesOf } from "./mutants/reach.mjs";
import { findAgain, mutantsAt, sampled, summary } from "./mutants/sample.mjs";
import { runVitest, tryMutants } from "./mutants/trials.mjs";
import { UsageError } from "./usage.mjs";

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
  .filter((file) => /^packages\/(?:wire|core|cli|gateway|registry|team)\/src\/.*[.]tsx?$/.test(file));
const { mutants: all, missing } = mutantsAt(
  sources.flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), "utf8"))),
  values,
);
if (missing.length > 0) refuse(`no mutant to try in ${missing.join(", ")}`);
const order = values.again === undefined ? sampled(all, all.length, values.seed) : findAgain(values.again, all);
const count = values.count ?? (values.at.length > 0 || values.again !== undefined ? order.length : 300);
compileDeclarations(copy);
const { chosen, refused } = firstAccepted(order, count, (mutants) => refusedMutants(copy, mutants));
process.stdout.write(
  `seed ${values.seed}: ${chosen.length} of ${all.length} mutants in ${new Set(all.map(({ file }) => file)).size} files (${refused} others have a type error)\n`,
);

const report = (text) => process.stdout.write(`${new Date().toTimeString().slice(0, 8)} ${text}\n`);
report("running the tests once, to see which of them reach which mutants");
const { workers } = values;
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

function options() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refuse(error.message);
  }
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\nnext: npm run mutants -- --help\n`);
  process.exit(2);
}
