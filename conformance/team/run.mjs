/**
 * `npm run conformance -- --team`: runs the official suite's sets for servers through two replicas of the team gateway,
 * each request at the next one. Exit code 1 if an outcome differs from that of the gateway of one machine
 * (`gateway/expected.json`), or if a check that passed directly does not pass.
 */

import { readFile } from "node:fs/promises";
import { outcomeOf, surprisesIn } from "../gateway/outcome.mjs";
import { startServer } from "../gateway/processes.mjs";
import { runSet, sets } from "../gateway/server-sets.mjs";
import { buildCommand, prepare } from "../prepare.mjs";
import { startTeam } from "./replicas.mjs";

const isVerbose = process.argv.includes("--verbose");
const say = (text) => process.stdout.write(`${text}\n`);

await prepare(["test-servers/src/postgres.ts", "team/test/support/issuer.ts"]);
buildCommand();
const expected = JSON.parse(await readFile(new URL("../gateway/expected.json", import.meta.url), "utf8"));
const surprises = [];
const server = await startServer();
const team = await startTeam(server.url, 2);
try {
  if (team === undefined) surprises.push("not run: this machine has no PostgreSQL");
  for (const set of team === undefined ? [] : sets) {
    const direct = await runSet(set, server.url);
    const { scenarios, output } = await runSet(set, team.url);
    if (isVerbose) say(output);
    const outcome = outcomeOf(scenarios, direct.scenarios);
    say(`team gateway, two replicas in turn, ${set.name}: ${outcome.passed} of ${outcome.of}`);
    const excused = expected.exceptions[`gateway to an HTTP server ${set.name}`];
    surprises.push(...surprisesIn(`team gateway ${set.name}`, outcome, excused));
  }
  if (team !== undefined) say(`requests of each replica: ${team.counts.join(", ")}`);
} finally {
  await team?.stop();
  await server.stop();
}
say(["", ...surprises, surprises.length === 0 ? "as expected" : "not as expected"].join("\n"));
if (surprises.length > 0) process.exitCode = 1;
