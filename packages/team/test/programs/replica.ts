/**
 * A replica, as `fairlead serve --team` runs it. With the argument `without-store` it stores no intents and no rows: the
 * difference is what the ledger costs.
 */

import { homedir } from "node:os";
import { openTeamServer } from "../../src/serve/team-server.ts";
import { PostgresLedger } from "../../src/store/postgres/ledger.ts";

if (process.argv[2] === "without-store") {
  PostgresLedger.prototype.begin = () => Promise.resolve();
  PostgresLedger.prototype.record = () => Promise.resolve();
}
const { env, platform } = process;
const server = await openTeamServer({
  environment: { env, platform, home: env["HOME"] ?? homedir(), cwd: process.cwd() },
  version: "0.0.0",
  write: (line) => void process.stderr.write(line),
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.once("SIGTERM", () => void server.drain());
