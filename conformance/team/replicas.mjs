/** Starts PostgreSQL, an issuer, and replicas of the team gateway in front of the suite's server. */

import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, rules, start } from "../gateway/processes.mjs";
import { startBalancer } from "./balancer.mjs";

/** The name of the server. */
export const server = "http";

/** @returns undefined on a machine without PostgreSQL */
export async function startTeam(serverUrl, count) {
  // `prepare` makes these files.
  const { PostgresServer, createDatabase } = await import("../bundle/postgres.js");
  const { startIssuer } = await import("../bundle/issuer.js");
  const postgres = await PostgresServer.open();
  if (postgres === undefined) return undefined;
  const database = await createDatabase(postgres);
  const issuer = await startIssuer();
  const token = await issuer.sign({ sub: "suite", aud: "conformance", scope: "mcp:call" });
  const balancer = await startBalancer(token);
  const folder = await mkdtemp(join(tmpdir(), "conformance-team-"));
  const policies = join(folder, "policies");
  const settings = join(folder, "settings.json");
  await mkdir(policies);
  await writeFile(join(policies, "conformance.toml"), rules([server]));
  await writeFile(join(folder, "keys"), `k1 ${randomBytes(32).toString("base64")}\n`);
  const team = {
    url: `http://127.0.0.1:${balancer.port}`,
    hosts: [`localhost:${balancer.port}`],
    listen: "127.0.0.1:0",
    store: { url: "${CONFORMANCE_DATABASE}" },
    keys: `\${file:${join(folder, "keys")}}`,
    auth: { issuers: [{ issuer: issuer.url, audience: ["conformance"] }] },
    drain: { wait: 0, finish: "5s" },
  };
  const mcpServers = { [server]: { httpUrl: serverUrl } };
  await writeFile(settings, JSON.stringify({ mcpServers, fairlead: { team, servers: { [server]: { roots: true } } } }));
  const replicas = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      startReplica(join(folder, `home-${at}`), { settings, policies, database }),
    ),
  );
  balancer.balance(replicas.map(({ url }) => new URL(url).origin));
  return {
    url: `http://127.0.0.1:${balancer.port}/mcp/${server}`,
    counts: balancer.counts,
    async stop() {
      await balancer.close();
      await Promise.all(replicas.map((replica) => replica.stop()));
      await issuer[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startReplica(home, { settings, policies, database }) {
  await mkdir(home);
  const { PATH, TMPDIR = tmpdir() } = process.env;
  const env = {
    PATH,
    TMPDIR,
    HOME: home,
    USERPROFILE: home,
    FAIRLEAD_HOME: join(home, ".fairlead"),
    FAIRLEAD_SYSTEM_POLICIES_PATH: policies,
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: settings,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: join(home, "none.json"),
    CONFORMANCE_DATABASE: database.url,
  };
  const { line, stop } = await start([command, "serve", "--team"], env, home);
  return { url: JSON.parse(line).url, stop };
}
