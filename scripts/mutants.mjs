// Plants small mistakes in the sources, one at a time, and sees whether the tests notice:
//   npm run mutants -- --count 300 --seed 7 --folder core/policy --folder core/trust [--json FILE] [--workers 2] [--tests 40]
// Works in a copy of HEAD. A mutant is killed when a test fails or runs out of time; what no test notices has survived.
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { copyCheckout } from "./mutants/copy.mjs";
import { importersOf, testsFor } from "./mutants/imports.mjs";
import { applied, mutantsOf } from "./mutants/operators.mjs";
import { createRunner } from "./mutants/runner.mjs";
import { folderOf, sampled, summary } from "./mutants/sample.mjs";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    folder: { type: "string", multiple: true, default: [] },
    json: { type: "string" },
    survivors: { type: "string" },
    workers: { type: "string", default: "2" },
    tests: { type: "string", default: "40" },
  },
});
const root = fileURLToPath(new URL("..", import.meta.url));
/** Nearest tests first, in steps: most mutants do not survive the first. */
const steps = [4, 12, Number(values.tests)];
/** A step that takes longer than this hangs because of the mutant; generous, as a mutant must not be called killed by a busy machine. */
const limit = 180_000;

const { copy, remove } = copyCheckout(root);
process.on("exit", remove);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    process.stdout.write(`ended by ${signal}\n`);
    process.exit(1);
  });

const files = execFileSync("git", ["ls-files", "packages"], { cwd: copy, encoding: "utf8" })
  .split("\n")
  .filter((file) => /[.](?:ts|tsx|mjs)$/.test(file));
const importers = importersOf(
  copy,
  files.map((file) => join(copy, file)),
);
const sources = files.filter((file) => /^packages\/(?:wire|core|cli)\/src\/.*[.]tsx?$/.test(file));
const wanted = sources.filter(
  (file) =>
    values.folder.length === 0 || values.folder.some((folder) => folderOf(file, folder.split("/").length) === folder),
);
const all = wanted.flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), "utf8")));
const chosen = sampled(all, Number(values.count), values.seed);
process.stdout.write(`seed ${values.seed}: ${chosen.length} of ${all.length} mutants in ${wanted.length} files\n`);

const runner = await createRunner(copy, { workers: Number(values.workers) });
const results = [];
/** By test file: whether it passes without a mutant. */
const soundness = new Map();
for (const [index, mutant] of chosen.entries()) {
  const begin = performance.now();
  const outcome = await judge(mutant);
  results.push({ ...mutant, ...outcome });
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  const change = `${mutant.file}:${mutant.line} ${mutant.kind}: ${oneLine(mutant.original)} → ${oneLine(mutant.replacement)}`;
  process.stdout.write(
    `${index + 1}/${chosen.length} ${outcome.state} in ${seconds} s ${change}${outcome.by ? ` (${outcome.by})` : ""}\n`,
  );
  if (outcome.state === "survived" && values.survivors) appendFileSync(values.survivors, `- ${change}\n`);
  if (values.json) writeFileSync(values.json, JSON.stringify({ seed: values.seed, results }, undefined, 2));
}
await runner.close();
process.stdout.write(summary(results));
process.exit(0);

async function judge(mutant) {
  const file = join(copy, mutant.file);
  const source = readFileSync(file, "utf8");
  const tests = testsFor(file, importers);
  if (tests.length === 0) return { state: "survived" };
  let from = 0;
  for (const to of steps) {
    for (;;) {
      const some = tests.slice(from, to).filter((test) => soundness.get(test) !== false);
      write(file, applied(source, mutant));
      const { state, by, test } = await runner.run(some, limit);
      write(file, source);
      if (state === "timeout") return { state };
      if (state === "passed") break;
      if (by === undefined || (await isSound(by))) return { state: "killed", by: by && relative(copy, by), test };
    }
    from = to;
  }
  return { state: "survived" };
}

/** A test that fails without the mutant, too, says nothing about it. */
async function isSound(test) {
  if (!soundness.has(test)) soundness.set(test, (await runner.run([test], limit)).state === "passed");
  if (!soundness.get(test)) process.stdout.write(`not counted, it fails without a mutant: ${relative(copy, test)}\n`);
  return soundness.get(test);
}

function write(file, source) {
  writeFileSync(file, source);
  runner.changed(file);
}

function oneLine(text) {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 100)}…` : line === "" ? "(nothing)" : line;
}
