/**
 * `npm run conformance`: the official suite against a host, as a client. `npm run conformance -- --gateway`: the official
 * suite against the gateway, as a server.
 */

await import(process.argv.includes("--gateway") ? "./gateway/run.mjs" : "./client-run.mjs");
