/**
 * `npm run conformance`: runs the official suite against a host, as a client. `npm run conformance -- --gateway`: runs
 * the official suite against the gateway, as a server; with `--team` against two replicas of the team gateway.
 */

const runs = { "--gateway": "./gateway/run.mjs", "--team": "./team/run.mjs" };
const chosen = Object.keys(runs).find((option) => process.argv.includes(option));
await import(chosen === undefined ? "./client-run.mjs" : runs[chosen]);
