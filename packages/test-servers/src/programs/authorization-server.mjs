/*
 * A protected MCP server and its authorization server, to try signing in by hand. Prints both addresses and runs until
 * it is stopped. First run `npx tsc -b`, then: node authorization-server.mjs [--port 8800] [--authorization-port 8801]
 * [--automatic] [--expires-in SECONDS] [--scopes "read write"]. With --automatic the browser shows no page.
 */
import { parseArgs } from "node:util";
import { authorizationServer, guardedServer } from "@fairlead/test-servers";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "authorization-port": { type: "string", default: "0" },
    automatic: { type: "boolean", default: false },
    "expires-in": { type: "string", default: "3600" },
    scopes: { type: "string", default: "read" },
  },
});

const scopes = values.scopes.split(" ");
const authorization = await authorizationServer({
  port: Number(values["authorization-port"]),
  consent: values.automatic ? "automatic" : "page",
  expiresIn: Number(values["expires-in"]),
  scopes,
});
const guarded = await guardedServer({ authorization, port: Number(values.port), scopes });
process.stdout.write(`MCP server: ${guarded.url}\nAuthorization server: ${authorization.issuer}\n`);
