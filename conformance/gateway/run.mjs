/**
 * `npm run conformance -- --gateway`: runs the official suite's sets for servers against our own server, and then
 * through the gateway to the same server. Exit code 1 if an outcome differs from `expected.json` in this folder, or if
 * a check that passed directly does not pass through the gateway. `--update` writes `expected.json` and
 * `docs/conformance.md`.
 */

import { readFile, writeFile } from "node:fs/promises";
import { writePage } from "../page.mjs";
import { buildCommand, prepare } from "../prepare.mjs";
import { runBridgedCalls } from "./bridged-calls.mjs";
import { outcomeOf, surprisesIn } from "./outcome.mjs";
import { startGateway, startServer } from "./processes.mjs";
import { runSet, sets } from "./server-sets.mjs";

const began = Date.now();
const expectations = new URL("expected.json", import.meta.url);
const isUpdate = process.argv.includes("--update");
const isVerbose = process.argv.includes("--verbose");
const say = (text) => process.stdout.write(`${text}\n`);

/** The paths to the server: the sets that run over each path, and how the lines of the report begin. */
const legs = [
  { label: "gateway", server: "stdio", sets },
  { label: "gateway to an HTTP server", server: "http", sets },
  { label: "legacy client to a modern server", server: "modern", sets: sets.filter(({ era }) => era === "legacy") },
  { label: "modern client to a legacy server", server: "legacy", sets: sets.filter(({ era }) => era === "modern") },
];

const merged = { label: "gateway at the address of all servers", server: undefined, sets };

await prepare();
buildCommand();
const expected = JSON.parse(await readFile(expectations, "utf8"));
const found = { direct: {}, legs: {} };
const surprises = [];
const server = await startServer();
try {
  const direct = await runDirect(server.url);
  await withGateway(undefined, async (gateway) => {
    for (const leg of legs) await runLeg(leg, gateway, direct);
    const { of, passed, problems } = await runBridgedCalls(gateway.urlOf);
    say(`calls with questions between the eras: ${passed} of ${of}`);
    surprises.push(...problems);
    found.bridgedCalls = { of, passed };
  });
  // At the address of all servers, a name stays unchanged only if a single server uses it.
  await withGateway(["stdio"], (gateway) => runLeg(merged, gateway, direct));
} finally {
  await server.stop();
}
if (isUpdate) {
  await writeFile(expectations, `${JSON.stringify({ ...expected, ...found }, undefined, 2)}\n`);
  await writePage();
}
say(`\ntook ${Math.round((Date.now() - began) / 1000)} s`);
say(["", ...surprises, surprises.length === 0 ? "as expected" : "not as expected"].join("\n"));
if (surprises.length > 0) process.exitCode = 1;

async function withGateway(names, use) {
  const gateway = await startGateway(server.url, names);
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

async function runDirect(url) {
  const direct = {};
  for (const set of sets) {
    const { scenarios, output } = await runSet(set, url);
    if (isVerbose) say(output);
    direct[set.name] = scenarios;
    const { passed, of, failed, unscored, unscoredFailed, checks } = outcomeOf(scenarios);
    say(`direct ${set.name}: ${passed} of ${of}`);
    found.direct[set.name] = { passed, of, checks, unscored };
    if (of === 0) surprises.push(`direct ${set.name}: the suite ran no scenario`);
    for (const name of [...failed, ...unscoredFailed]) surprises.push(`direct ${set.name}: ${name} failed`);
  }
  return direct;
}

async function runLeg({ label, server: name, sets: chosen }, gateway, direct) {
  for (const set of chosen) {
    const { scenarios, output } = await runSet(set, gateway.urlOf(name));
    if (isVerbose) say(output);
    const { passed, of, failed, unscored, unscoredFailed, missing, checks } = outcomeOf(scenarios, direct[set.name]);
    say(`${label} ${set.name}: ${passed} of ${of}`);
    const key = `${label} ${set.name}`;
    surprises.push(...surprisesIn(key, { failed, unscoredFailed, missing }, expected.exceptions[key]));
    found.legs[key] = { passed, of, checks, unscored };
  }
}
