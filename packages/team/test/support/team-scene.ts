/** Replicas of the team gateway as processes of their own: the built command, a database, an issuer, HTTP servers behind. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type TestDatabase, temporaryFolder } from "@fairlead/test-servers";
import { connect, type Era, type JsonObject, type Session } from "@fairlead/wire";
import { parseJson } from "@fairlead/wire/json";
import { KeyRing } from "../../src/store/key-ring.ts";
import { startIssuer, type TestIssuer } from "./issuer.ts";
import { openStore } from "./open-store.ts";

const command = fileURLToPath(new URL("../../../cli/bin/fairlead.cjs", import.meta.url));
const conformance = fileURLToPath(new URL("../../../test-servers/src/programs/conformance.mjs", import.meta.url));

export interface SceneOptions {
  /** The entries of `mcpServers`. */
  readonly servers?: Readonly<Record<string, object>>;
  /** Members of `fairlead.team` besides the usual ones. */
  readonly team?: Readonly<Record<string, unknown>>;
  /** Members of `fairlead` besides `team`. */
  readonly fairlead?: Readonly<Record<string, unknown>>;
  readonly audit?: Readonly<Record<string, unknown>>;
  /** Members of the issuer's settings. */
  readonly issuer?: Readonly<Record<string, unknown>>;
  readonly otherIssuers?: readonly object[];
  /** Rules of the machine. Default: everything is allowed. */
  readonly rules?: string;
  /** The whole text of the settings file, instead of what the other options say. */
  readonly text?: string;
}

/** One process. */
export interface ReplicaProcess extends AsyncDisposable {
  readonly origin: string;
  readonly metricsUrl: string | undefined;
  readonly pid: number;
  /** The events of its log so far. */
  readonly log: readonly JsonObject[];
  /** Everything else that it wrote to stderr. */
  readonly words: readonly string[];
  urlOf(server?: string): string;
  ready(): Promise<{ readonly status: number; readonly body: JsonObject }>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or with the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface TeamScene extends AsyncDisposable {
  readonly issuer: TestIssuer;
  readonly ring: KeyRing;
  readonly settingsFile: string;
  /** Writes the settings file again. */
  write(options: SceneOptions): Promise<void>;
  start(env?: Readonly<Record<string, string>>): Promise<ReplicaProcess>;
  /** The token of a user. */
  tokenOf(user: string, claims?: JsonObject): Promise<string>;
  /** Opens a session of a client. */
  open(url: string, token: string, era: Era, options?: Partial<Parameters<typeof connect>[1]>): Promise<Session>;
}

export const allowAll: string = [
  '[[rule]]\nmcpName = "*"\ntoolName = "*"\ndecision = "allow"\npriority = 500\n',
  ...["resource", "prompt", "sampling", "skill"].map(
    (kind) => `[[rule]]\nmcpName = "*"\nkind = "${kind}"\ndecision = "allow"\npriority = 500\n`,
  ),
].join("\n");

export async function teamScene(database: Pick<TestDatabase, "url">, options: SceneOptions = {}): Promise<TeamScene> {
  const folder = await temporaryFolder();
  const issuer = await startIssuer();
  const keys = `k1 ${randomBytes(32).toString("base64")}\n`;
  const settingsFile = join(folder.path, "system.json");
  const policies = join(folder.path, "policies");
  await mkdir(policies);
  await writeFile(join(folder.path, "keys"), keys);
  const processes: ReplicaProcess[] = [];
  let homes = 0;

  async function write(options: SceneOptions) {
    const { servers = {}, team, fairlead, audit, issuer: more, otherIssuers = [], rules = allowAll, text } = options;
    const section = {
      url: "https://mcp.example",
      listen: "127.0.0.1:0",
      store: { url: `$${"{TEST_DATABASE}"}`, audit },
      keys: `$${"{file:"}${join(folder.path, "keys")}}`,
      auth: { issuers: [{ issuer: issuer.url, ...more }, ...otherIssuers], apiKeys: true },
      drain: { wait: 0, finish: "10s" },
      ...team,
    };
    const settings = { mcpServers: servers, fairlead: { ...fairlead, team: section } };
    await writeFile(settingsFile, text ?? JSON.stringify(settings));
    await writeFile(join(policies, "rules.toml"), rules);
  }

  await write(options);
  return {
    issuer,
    ring: KeyRing.parse(keys, "keys"),
    settingsFile,
    write,
    async start(env = {}) {
      homes += 1;
      const home = join(folder.path, `home-${homes}`);
      await mkdir(home);
      const { PATH, TMPDIR } = process.env;
      const replica = await startReplica(
        {
          PATH,
          TMPDIR,
          HOME: home,
          USERPROFILE: home,
          FAIRLEAD_HOME: join(home, ".fairlead"),
          FAIRLEAD_SYSTEM_POLICIES_PATH: policies,
          GEMINI_CLI_SYSTEM_SETTINGS_PATH: settingsFile,
          GEMINI_CLI_SYSTEM_DEFAULTS_PATH: join(folder.path, "none.json"),
          TEST_DATABASE: database.url,
          ...env,
        },
        home,
      );
      processes.push(replica);
      return replica;
    },
    tokenOf: (user, claims) =>
      issuer.sign({ sub: user, aud: "https://mcp.example/mcp", scope: "mcp:call", client_id: "claude", ...claims }),
    open: (url, token, era, more) =>
      connect(
        { kind: "http", url, headers: { authorization: `Bearer ${token}` } },
        { era, clientInfo: { name: "test", version: "1.0.0" }, capabilities: {}, ...more },
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
      await issuer[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function startReplica(env: NodeJS.ProcessEnv, cwd: string): Promise<ReplicaProcess> {
  const child = spawn(process.execPath, [command, "serve", "--team"], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const log: JsonObject[] = [];
  const words: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    const event = parseJson(line);
    if (typeof event === "object" && event !== null) log.push(event as JsonObject);
    else words.push(line);
  });
  const ended = once(child, "close").then(([code, signal]: (number | string)[]) => code ?? signal ?? "unknown");
  const first = once(createInterface({ input: child.stdout }), "line").then(([line]) => JSON.parse(String(line)));
  const failed = ended.then((code) => {
    throw new Error(`the replica ended with ${code}:\n${words.join("\n")}\n${JSON.stringify(log)}`);
  });
  failed.catch(() => undefined);
  const { url, metrics } = await Promise.race([first, failed]);
  const origin = new URL(url).origin;
  return {
    origin,
    metricsUrl: metrics,
    pid: child.pid ?? 0,
    log,
    words,
    ended,
    urlOf: (server) => (server === undefined ? `${origin}/mcp` : `${origin}/mcp/${server}`),
    async ready() {
      const response = await fetch(`${origin}/readyz`);
      return { status: response.status, body: (await response.json()) as JsonObject };
    },
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The server of the conformance suite over HTTP, in both eras. */
export async function conformanceServer(): Promise<{ readonly url: string } & AsyncDisposable> {
  const child: ChildProcess = spawn(process.execPath, [conformance, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "close");
  if (child.stdout === null) throw new Error("the server has no stdout");
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url: String(url),
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      child.kill();
      await gone;
    },
  };
}

/** The store that the replicas of a scene share. */
export async function sharedStore(database: Pick<TestDatabase, "url">, { ring }: Pick<TeamScene, "ring">) {
  return openStore(database, { ring });
}
