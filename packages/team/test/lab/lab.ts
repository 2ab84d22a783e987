/** A team on one machine: PostgreSQL, an issuer of tokens, a server behind the gateway, and replicas. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  createDatabase,
  PostgresServer,
  type TemporaryFolder,
  type TestDatabase,
  temporaryFolder,
} from "@fairlead/test-servers";
import { KeyRing } from "../../src/store/key-ring.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { type Comparison, compareBooks } from "./books.ts";
import { type CallerOptions, Callers } from "./callers.ts";
import { Networks } from "./networks.ts";
import { Replica, type Settings } from "./replica.ts";

const upstreamProgram = fileURLToPath(new URL("../programs/upstream.mjs", import.meta.url));
const publicHost = "mcp.lab.example";

export interface LabOptions {
  readonly replicas?: number;
  readonly users?: number;
  /** Settings of PostgreSQL, such as `fsync=on`. */
  readonly postgres?: readonly string[];
  /** Keys of `fairlead.team` beside those that every team needs. */
  readonly team?: Readonly<Record<string, unknown>>;
  readonly audit?: Readonly<Record<string, unknown>>;
  /** Milliseconds in which the server answers. Default: 5 */
  readonly delay?: number;
  /** Whether each replica has a network of its own, where this machine permits it. */
  readonly networks?: boolean;
  /** The program of each replica. Default: `fairlead serve --team` of this checkout. */
  readonly programs?: readonly (readonly string[])[];
}

export class Lab implements AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly database: TestDatabase;
  readonly ring: KeyRing;
  readonly replicas: readonly Replica[];
  readonly tokens: readonly string[];
  readonly upstreamUrl: string;
  readonly upstreamPid: number;
  /** Whether each replica has a network of its own. */
  readonly hasNetworks: boolean;
  readonly #closers: readonly (() => unknown)[];

  private constructor(parts: Parts, closers: readonly (() => unknown)[]) {
    this.postgres = parts.postgres;
    this.database = parts.database;
    this.ring = parts.ring;
    this.replicas = parts.replicas;
    this.tokens = parts.tokens;
    this.upstreamUrl = parts.upstreamUrl;
    this.upstreamPid = parts.upstreamPid;
    this.hasNetworks = parts.hasNetworks;
    this.#closers = closers;
  }

  /** Starts everything. Undefined if this machine has no PostgreSQL. */
  static async open(options: LabOptions = {}): Promise<Lab | undefined> {
    const closers: (() => unknown)[] = [];
    try {
      return await openLab(options, closers, (parts) => new Lab(parts, closers));
    } catch (error) {
      await closeAll(closers);
      throw error;
    }
  }

  /** Callers of all users on all replicas. */
  callers(callers: number, options: Partial<CallerOptions> = {}): Callers {
    const { replicas, tokens } = this;
    return new Callers({ replicas, tokens, callers, host: publicHost, path: "/mcp/up", ...options });
  }

  compare({ book }: Callers): Promise<Comparison> {
    return compareBooks(book, `${this.upstreamUrl}/book`, { databaseUrl: this.database.url, ring: this.ring });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAll(this.#closers);
  }
}

type Parts = Pick<
  Lab,
  "postgres" | "database" | "ring" | "replicas" | "tokens" | "upstreamUrl" | "upstreamPid" | "hasNetworks"
>;

async function openLab(
  options: LabOptions,
  closers: (() => unknown)[],
  create: (parts: Parts) => Lab,
): Promise<Lab | undefined> {
  const { replicas: count = 4, users = 50, delay = 5, programs = [] } = options;
  // A server with settings of its own needs its own files.
  const postgres = await (options.postgres === undefined
    ? PostgresServer.open()
    : PostgresServer.create(undefined, false, options.postgres));
  if (postgres === undefined) return undefined;
  closers.push(() => postgres[Symbol.asyncDispose]());
  const database = await createDatabase(postgres);
  const folder = await temporaryFolder();
  closers.push(() => folder[Symbol.asyncDispose]());
  const issuer = await startIssuer();
  closers.push(() => issuer[Symbol.asyncDispose]());
  const upstream = spawn(process.execPath, [upstreamProgram, String(delay)], { stdio: ["pipe", "pipe", "inherit"] });
  closers.push(() => ended(upstream));
  const [upstreamUrl] = (await once(createInterface(upstream.stdout), "line")) as [string];
  const keys = `k1 ${randomBytes(32).toString("base64")}`;
  const keyFile = join(folder.path, "keys");
  await writeFile(keyFile, `${keys}\n`, { mode: 0o600 });
  const settings = settingsOf(options, { upstreamUrl, issuer, keyFile, databaseUrl: database.url });
  const ports = [upstreamUrl, issuer.url].map((url) => Number(new URL(url).port));
  const networks = options.networks === true ? await Networks.open(count, ports) : undefined;
  if (networks !== undefined) closers.push(() => networks[Symbol.asyncDispose]());
  const replicas = await startReplicas(count, { folder, settings, programs, closers, networks });
  return create({
    postgres,
    database,
    ring: KeyRing.parse(keys, "keys"),
    replicas,
    tokens: await tokensOf(users, issuer),
    upstreamUrl,
    upstreamPid: upstream.pid ?? 0,
    hasNetworks: networks !== undefined,
  });
}

function settingsOf(
  { team, audit }: LabOptions,
  parts: { upstreamUrl: string; issuer: TestIssuer; keyFile: string; databaseUrl: string },
): Settings {
  return {
    mcpServers: { up: { httpUrl: `${parts.upstreamUrl}/mcp`, trust: true } },
    fairlead: {
      team: {
        url: `https://${publicHost}`,
        store: { url: parts.databaseUrl, audit: { mode: "strict", whenAway: "closed", ...audit } },
        keys: `\${file:${parts.keyFile}}`,
        auth: { issuers: [{ issuer: parts.issuer.url }], apiKeys: true },
        ...team,
      },
    },
  };
}

/** The first one creates the tables. */
async function startReplicas(
  count: number,
  parts: {
    readonly folder: TemporaryFolder;
    readonly settings: Settings;
    readonly programs: readonly (readonly string[])[];
    readonly closers: (() => unknown)[];
    readonly networks: Networks | undefined;
  },
): Promise<readonly Replica[]> {
  const { folder, settings, programs, closers, networks } = parts;
  const replicas = Array.from({ length: count }, (_, index) => {
    const own = join(folder.path, `replica-${index + 1}`);
    const { address, command } = networks?.networks[index] ?? { address: `127.0.0.${11 + index}`, command: [] };
    return {
      own,
      replica: new Replica({ folder: own, address, network: command, settings, program: programs[index] }),
    };
  });
  for (const { own, replica } of replicas) {
    await mkdir(own, { recursive: true });
    closers.push(() => replica[Symbol.asyncDispose]());
  }
  await Promise.all(replicas.map(({ replica }) => replica.start()));
  return replicas.map(({ replica }) => replica);
}

async function tokensOf(users: number, issuer: TestIssuer): Promise<readonly string[]> {
  const hours = 12 * 3600;
  const exp = Math.floor(Date.now() / 1000) + hours;
  const claims = { aud: `https://${publicHost}/mcp`, scope: "mcp:call", client_id: "lab", exp };
  return Promise.all(Array.from({ length: users }, (_, user) => issuer.sign({ ...claims, sub: `user-${user}` })));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "close");
  child.kill("SIGKILL");
  await gone;
}

async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}
