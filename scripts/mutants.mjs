// Plants small mistakes in the sources, one at a time, and sees whether the tests notice: npm run mutants -- --help
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { accepted, compileDeclarations, refusedMutants } from "./mutants/compiler.mjs";
import { build, copyCheckout } from "./mutants/copy.mjs";
import { importersOf, testsFor } from "./mutants/imports.mjs";
import { createJudge } from "./mutants/judge.mjs";
import { applied, mutantsOf } from "./mutants/operators.mjs";
import { createRunner } from "./mutants/runner.mjs";
import { folderOf, sampled, summary } from "./mutants/sample.mjs";

const help = `usage: npm run mutants -- [options]

Plants small mistakes (mutants) in a copy of HEAD, one at a time, and runs the nearest tests. A mutant is killed when a test
fails, or when its tests hang twice and do not hang without it. A mutant that no test notices has survived. Mutants with a
type error are not counted.

  --count N        how many mutants to try (default: 300)
  --skip N         leaves out the first N of them: the earlier ones of an interrupted run (default: 0)
  --seed S         chooses the mutants: the same seed on the same sources chooses the same (default: from the clock)
  --folder F       only the mutants of this folder, for example core/policy; may be repeated (default: wire, core, cli and gateway)
  --at FILE:LINE   only the mutants of this line, all of them, for example core/src/errors.ts:12; may be repeated
  --again FILE     only the survivors in this file, which an earlier run wrote with --json
  --built          tries a survivor again, compiled and bundled, with tests that start the command or a thread of it
  --tests N        at most this many test files for each mutant, nearest first (default: 40)
  --workers N      how many test files run at the same time (default: 2)
  --json FILE      writes every result to this file, after each mutant
  --survivors FILE appends every survivor to this file
  -h, --help       shows this text

Uncommitted changes do not count: commit first.
`;
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    skip: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    at: { type: "string", multiple: true, default: [] },
    folder: { type: "string", multiple: true, default: [] },
    again: { type: "string" },
    built: { type: "boolean", default: false },
    json: { type: "string" },
    survivors: { type: "string" },
    workers: { type: "string", default: "2" },
    tests: { type: "string", default: "40" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const root = fileURLToPath(new URL("..", import.meta.url));
/** Nearest tests first, in steps: most mutants do not survive the first. */
const steps = [8, Number(values.tests)];
/** Tests of which none ends for this many milliseconds hang: four times the limit of a single test. */
const limit = 60_000;

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
const sources = files.filter((file) => /^packages\/(?:wire|core|cli|gateway)\/src\/.*[.]tsx?$/.test(file));
const wanted = sources.filter(
  (file) =>
    values.folder.length === 0 || values.folder.some((folder) => folderOf(file, folder.split("/").length) === folder),
);
const places = new Set(values.at.map((place) => `packages/${place}`));
const all = wanted
  .flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), "utf8")))
  .filter(({ file, line }) => places.size === 0 || places.has(`${file}:${line}`));
const isAgain = values.again !== undefined;
const order = isAgain ? survivorsIn(values.again) : sampled(all, all.length, values.seed);
compileDeclarations(copy);
const { chosen: sample, refused } = accepted(order, isAgain ? order.length : Number(values.count), (mutants) =>
  refusedMutants(copy, mutants),
);
const chosen = sample.slice(Number(values.skip));
process.stdout.write(
  `seed ${values.seed}: ${chosen.length} of ${all.length} mutants in ${wanted.length} files (${refused} others have a type error)\n`,
);

const runner = await createRunner(copy, { workers: Number(values.workers), limit });
const results = [];
const judge = createJudge({
  run: runner.run,
  report: (text) => process.stdout.write(`${text.replaceAll(`${copy}/`, "")}\n`),
});
// The first run of a test compiles and bundles the sources for the programs that tests start: no mutant may be in the sources then.
await runner.run([join(copy, "packages/wire/test/shapes/decode.test.ts")]);
for (const [index, mutant] of chosen.entries()) {
  const begin = performance.now();
  const outcome = await outcomeOf(mutant);
  results.push({ ...mutant, ...outcome, ...(outcome.by && { by: relative(copy, outcome.by) }) });
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  const change = `${mutant.file}:${mutant.line} ${mutant.kind}: ${oneLine(mutant.original)} → ${oneLine(mutant.replacement)}`;
  process.stdout.write(
    `${index + 1}/${chosen.length} ${outcome.state} in ${seconds} s ${change}${outcome.by ? ` (${relative(copy, outcome.by)})` : ""}\n`,
  );
  if (outcome.state === "survived" && values.survivors) appendFileSync(values.survivors, `- ${change}\n`);
  if (values.json) writeFileSync(values.json, JSON.stringify({ seed: values.seed, results }, undefined, 2));
}
await runner.close();
process.stdout.write(summary(results));
process.exit(0);

/** `killed` or `timeout` with the test that noticed the mutant, or `survived`. */
async function outcomeOf(mutant) {
  const file = join(copy, mutant.file);
  const source = readFileSync(file, "utf8");
  const passage = source
    .split("\n")
    .slice(Math.max(mutant.line - 3, 0), mutant.line + 2)
    .join("\n");
  const near = testsFor(file, importers, passage);
  const runMutated = async (tests, afterWrite = () => {}) => {
    write(file, applied(source, mutant));
    try {
      afterWrite();
      return await runner.run(tests);
    } finally {
      write(file, source);
      afterWrite();
    }
  };
  const outcome = await judge(near, steps, runMutated);
  if (outcome.state !== "survived" || !values.built) return outcome;
  // Programs and threads that tests start do not run the sources: they run what is compiled and bundled from them.
  const starter = join(copy, "packages/cli/test/support/process.ts");
  const starting = testsFor(file, new Map([[file, testsFor(starter, importers)]]), passage);
  const tests = [...new Set([...starting.slice(0, 6), ...near.slice(0, 4)])];
  return judge(tests, [tests.length], (some) => runMutated(some, () => build(copy)));
}

/** The mutants of these sources that survived an earlier run, found again by their line's change even if lines moved. */
function survivorsIn(file) {
  const left = JSON.parse(readFileSync(file, "utf8")).results.filter(({ state }) => state === "survived");
  const isSame = (one, other) => ["file", "kind", "original", "replacement"].every((key) => one[key] === other[key]);
  return left.flatMap((survivor) => {
    const [nearest] = all
      .filter((mutant) => isSame(mutant, survivor))
      .sort((one, other) => Math.abs(one.line - survivor.line) - Math.abs(other.line - survivor.line));
    return nearest === undefined ? [] : [nearest];
  });
}

function write(file, source) {
  writeFileSync(file, source);
  runner.changed(file);
}

function oneLine(text) {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 100)}…` : line === "" ? "(nothing)" : line;
}
