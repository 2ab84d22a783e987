/**
 * `npm run conformance`: runs the official suite against a host, as a client. `npm run conformance -- --gateway`: runs
 * the official suite against the gateway, as a server.
 */

await import(process.argv.includes("--gateway") ? "./gateway/run.mjs" : "./client-run.mjs");
