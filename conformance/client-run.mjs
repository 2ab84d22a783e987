/**
 * Runs both versions of the official suite against a host. Exit code 1 if an outcome differs from `expected.json`. With
 * names of scenarios, runs only those and prints the suite's whole output. `--update` writes the outcomes to
 * `expected.json` and `docs/conformance.md`.
 */

import { readFile, writeFile } from "node:fs/promises";
import { writePage } from "./page.mjs";
import { prepare } from "./prepare.mjs";
import { row, summary, surprisesIn, totalsRow } from "./report.mjs";
import { listScenarios, runScenario, suites } from "./suite.mjs";

const began = Date.now();
const expectations = new URL("expected.json", import.meta.url);
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const isUpdate = process.argv.includes("--update");
const say = (text) => process.stdout.write(`${text}\n`);

await prepare();
const expected = JSON.parse(await readFile(expectations, "utf8"));
const surprises = [];
const unknown = new Set(wanted);
for (const suite of suites) {
  const outcomes = await runAll(suite);
  if (isUpdate) remember(suite.version, outcomes);
  for (const surprise of surprisesIn(outcomes, expected[suite.version], wanted.length > 0))
    surprises.push(`${suite.version}: ${surprise}`);
}
for (const name of unknown) surprises.push(`no suite has a scenario called ${name}`);
if (isUpdate) {
  await writeFile(expectations, `${JSON.stringify(expected, undefined, 2)}\n`);
  await writePage();
}
say(`\ntook ${Math.round((Date.now() - began) / 1000)} s`);
say(["", ...surprises, surprises.length === 0 ? "as expected" : "not as expected"].join("\n"));
if (surprises.length > 0) process.exitCode = 1;

async function runAll(suite) {
  const names = (await listScenarios(suite)).filter((name) => wanted.length === 0 || wanted.includes(name));
  const outcomes = {};
  if (names.length === 0) return outcomes;
  say(`\n${suite.version}\n${row("scenario", { passed: "pass", failed: "fail", warned: "warn", skipped: "skip" })}`);
  // Scenarios run one after the other, because some checks measure time and fail if scenarios run in parallel.
  for (const name of names) {
    const { output, ...outcome } = await runScenario(suite, name);
    outcomes[name] = outcome;
    unknown.delete(name);
    if (wanted.length > 0) say(output);
    say(row(name, outcome));
  }
  say(totalsRow(outcomes));
  return outcomes;
}

function remember(version, outcomes) {
  const found = Object.fromEntries(Object.entries(outcomes).map(([name, outcome]) => [name, summary(outcome)]));
  const { scenarios = {}, ...rest } = expected[version] ?? {};
  expected[version] = { ...rest, scenarios: wanted.length === 0 ? found : { ...scenarios, ...found } };
}
