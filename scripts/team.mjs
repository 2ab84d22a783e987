/*
 * `npm run team` tries the team gateway on this machine: PostgreSQL, a demo issuer, two replicas, a balancer and a demo
 * server, all on the loopback address and in one temporary folder. Prints what to type. Ctrl-C ends and removes everything.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createDatabase, PostgresServer, postgresVersion } from "@fairlead/test-servers";
import { haproxyVersion, startHaproxy, startNodeBalancer } from "./team/balancer.mjs";
import { people, startIssuer } from "./team/issuer.mjs";
import { startUpstream } from "./team/upstream.mjs";

const command = fileURLToPath(new URL("../packages/cli/bin/fairlead.cjs", import.meta.url));
const usage = "npm run team [-- --port 8700] [--balancer haproxy|node]\n";
const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "8700" },
    balancer: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const port = Number(options.port);
const url = `http://127.0.0.1:${port}`;
/** What ends everything, in the order in which it was started. */
const closers = [];
const life = { isEnding: false };
let isStarted;
const started = new Promise((resolve) => (isStarted = resolve));

if (options.help) process.stdout.write(usage);
else if (postgresVersion() === undefined) {
  process.stderr.write(
    "PostgreSQL is not installed: the replicas of a team share it\nnext: apt-get install postgresql   (macOS: brew install postgresql@17)\n",
  );
  process.exitCode = 1;
} else {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void end());
  try {
    await start();
  } catch (error) {
    process.exitCode = 1;
    if (!life.isEnding) process.stderr.write(`the team could not be started: ${error.message}\n`);
    isStarted();
    await end();
  }
}

async function start() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fairlead-team-")));
  closers.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  say("starting PostgreSQL …");
  const postgres = await PostgresServer.create();
  closers.push(() => postgres[Symbol.asyncDispose]());
  const database = await createDatabase(postgres);
  const issuer = await startIssuer(`${url}/mcp`);
  closers.push(() => issuer.close());
  const upstream = await startUpstream();
  closers.push(() => upstream.close());
  const keys = join(folder, "keys");
  writeFileSync(keys, `k1 ${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const settings = settingsOf({ upstream, issuer, keys, database });
  const team = join(folder, "settings.json");
  writeFileSync(team, JSON.stringify(settings, undefined, 2), { mode: 0o600 });
  say("starting two replicas …");
  const replicas = await Promise.all([1, 2].map((number) => startReplica(number, { folder, settings })));
  const version = options.balancer === "node" ? undefined : haproxyVersion();
  const begin = version === undefined ? startNodeBalancer : startHaproxy;
  const balancer = await begin({ port, replicas: replicas.map(({ address }) => address), folder });
  closers.push(() => balancer.close());
  await Promise.race([answers(), balancer.ended]);
  balancer.ended.catch((error) => void fail(error));
  await writeTokens(folder, issuer);
  if (life.isEnding) throw new Error("it was stopped");
  isStarted();
  const name = version === undefined ? "a small balancer (haproxy is absent)" : `haproxy ${version}`;
  process.stdout.write(wordsFor({ folder, replicas, name, postgres: postgresVersion() }));
}

/** One user's settings would not be read: the section counts in system settings only. */
function settingsOf({ upstream, issuer, keys, database }) {
  return {
    mcpServers: { demo: { httpUrl: upstream.url, trust: true } },
    fairlead: {
      team: {
        url,
        store: { url: database.url, audit: { mode: "strict", whenAway: "closed" } },
        keys: `\${file:${keys}}`,
        auth: {
          issuers: [
            { issuer: issuer.url, roles: { claim: "groups", admin: ["mcp-admins"], approver: ["mcp-approvers"] } },
          ],
          apiKeys: true,
        },
        // The balancer on this machine notices within a second.
        drain: { wait: "1s", finish: "5s" },
      },
    },
  };
}

/** Starts a replica with its own home, temporary folder and settings. Resolves when it listens. */
async function startReplica(number, { folder, settings }) {
  const own = join(folder, `replica-${number}`);
  for (const name of ["home", "tmp"]) mkdirSync(join(own, name), { recursive: true });
  const file = join(own, "settings.json");
  const { team } = settings.fairlead;
  writeFileSync(file, JSON.stringify({ ...settings, fairlead: { team: { ...team, listen: "127.0.0.1:0" } } }));
  const env = {
    PATH: process.env.PATH,
    HOME: join(own, "home"),
    FAIRLEAD_HOME: join(own, "home/.fairlead"),
    TMPDIR: join(own, "tmp"),
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: file,
  };
  // Ctrl-C reaches all programs of a terminal, but this one ends the others in their order.
  const child = spawn(process.execPath, [command, "serve", "--team"], {
    cwd: own,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = join(own, "log");
  child.stderr.pipe(createWriteStream(log));
  const gone = once(child, "exit");
  closers.push(async () => {
    if (child.kill("SIGTERM")) await gone;
  });
  const failed = gone.then(() => {
    throw new Error(`replica ${number} ended; its log: ${log}`);
  });
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), failed]);
  failed.catch(({ message }) => {
    if (!life.isEnding) say(message);
  });
  return { address: new URL(JSON.parse(line).url).host, pid: child.pid, log };
}

/** Resolves when a replica answers through the balancer. */
async function answers() {
  while (!life.isEnding) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A token for each person, and settings with which Fairlead uses the gateway as Ada. */
async function writeTokens(folder, issuer) {
  for (const person of Object.keys(people)) {
    const token = await issuer.token(person);
    writeFileSync(join(folder, `${person}.token`), token, { mode: 0o600 });
    const team = { httpUrl: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } };
    writeFileSync(join(folder, `${person}.json`), JSON.stringify({ mcpServers: { team } }), { mode: 0o600 });
  }
}

function wordsFor({ folder, replicas, name, postgres }) {
  const run = `node ${command}`;
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "curl", version: "1" } },
  });
  const asAda = `FAIRLEAD_HOME=${folder}/client ${run}`;
  const asAdministrator = `GEMINI_CLI_SYSTEM_SETTINGS_PATH=${folder}/settings.json FAIRLEAD_HOME=${folder}/client ${run}`;
  const bearer = `-H "Authorization: Bearer $(cat ${folder}/ada.token)"`;
  return `
The team gateway runs at ${url}/mcp: ${name}, two replicas, PostgreSQL ${postgres}.

Call a tool as Ada (grace.json is another person):
  ${asAda} --settings ${folder}/ada.json --no-workspace call team.greet name=Ada
With mcporter:
  npx mcporter call --http-url ${url}/mcp --allow-http --header "Authorization=Bearer $(cat ${folder}/ada.token)" greet name=Ada
With curl:
  curl -s ${url}/mcp ${bearer} -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d '${initialize}'
Which replicas run, and what was called:
  ${asAdministrator} team status
  ${asAdministrator} team audit
An API key for a machine:
  ${asAdministrator} team keys add build-server
Kill a replica, and call again:
  kill -9 ${replicas.map(({ pid }) => pid).join("   or   ")}
Logs: ${replicas.map(({ log }) => log).join(" ")}

Ctrl-C stops everything and removes ${folder}
`;
}

async function fail(error) {
  if (life.isEnding) return;
  process.exitCode = 1;
  process.stderr.write(`${error.message}\n`);
  await end();
}

/** Ends everything, the last first. What is still starting is waited for. */
async function end() {
  if (life.isEnding) return;
  life.isEnding = true;
  say("stopping …");
  await started;
  for (const close of closers.splice(0).toReversed()) {
    try {
      await close();
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
    }
  }
  say("stopped");
  process.exit();
}

function say(words) {
  process.stderr.write(`${words}\n`);
}
