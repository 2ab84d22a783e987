/** One replica of the team gateway: joins store, callers, hosts of users, the HTTP listener and the parts. */

import { randomBytes } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { HostError, systemClock } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import { createBoundedFetch } from "@fairlead/core/connect";
import { ensurePrivateFolder, toWriteError } from "@fairlead/core/files";
import { type Environment, locate } from "@fairlead/core/settings";
import { OwnTelemetry, prometheusType } from "@fairlead/core/telemetry";
import type { Admit } from "@fairlead/gateway/admission";
import { createGateway, type Gateway } from "@fairlead/gateway/gateway";
import type { HttpListener, HttpPage } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import { Callers } from "../auth/admit-caller.ts";
import { ApiKeyVerifier } from "../auth/api-key-verifier.ts";
import { RevokedUsers } from "../auth/revoked-users.ts";
import { TokenVerifier } from "../auth/token-verifier.ts";
import { loadTeamSettings } from "../settings/load-team-settings.ts";
import type { ListenAddress, TeamSettings } from "../settings/team-settings.ts";
import { openPostgresStore } from "../store/postgres/store.ts";
import type { Replica } from "../store/replicas.ts";
import type { TeamStore } from "../store/store.ts";
import { sharedGatewayKey } from "./gateway-keys.ts";
import { livePage, type Readiness, readyPage } from "./health.ts";
import { ListChanges } from "./list-changes.ts";
import { createLog } from "./log.ts";
import { ParkedAtReplicas } from "./parked-elsewhere.ts";
import { EncryptedStates } from "./request-states.ts";
import { SharedSessions } from "./shared-sessions.ts";
import { openTeamParts, type TeamContext, type TeamParts } from "./team-parts.ts";
import { TenantConfigurations } from "./tenant-configurations.ts";
import { UserHosts } from "./user-hosts.ts";

export interface TeamServerOptions {
  /** Where spans and metrics go. Without it, metrics are counted if the settings have an address for them. */
  readonly telemetry?: OwnTelemetry | undefined;
  readonly environment: Environment;
  /** Fairlead's version. */
  readonly version: string;
  /** Writes a line of the log. */
  readonly write: (line: string) => void;
  readonly clock?: Clock;
  /** In milliseconds since 1970. */
  readonly now?: () => number;
}

/** A running replica. */
export interface TeamServer {
  /** The address of `/mcp` on this machine. */
  readonly url: string;
  /** The address of `/metrics` on this machine. */
  readonly metricsUrl: string | undefined;
  /** Reads the system settings again. */
  reload(): Promise<void>;
  /** Takes no further requests, finishes those that run, and closes everything. */
  drain(): Promise<void>;
}

/** Milliseconds between two reports of this replica, two times of maintenance, and two looks at the settings files. */
const times = { report: 10_000, maintain: 60_000, watch: 3000 } as const;
/** Many people and their agents come through one balancer, or with one API key. */
const limits = { requests: 1024, ownerRequests: 4096, streams: 256, sessions: 1024, unusedConnections: 8192 } as const;

/**
 * Starts a replica.
 *
 * @throws HostError `settings_invalid`, `variable_unset`, `unreachable` if PostgreSQL is away, `diverged` if the database
 *   is newer than this program, `usage` if a port is in use
 */
export async function openTeamServer(options: TeamServerOptions): Promise<TeamServer> {
  const { clock = systemClock, now = Date.now, version } = options;
  const log = createLog(options.write, now);
  const environment = await teamEnvironment(options.environment);
  const folder = environment.cwd;
  const settings = await loadTeamSettings(environment);
  const opened = new Opened();
  try {
    const telemetry = options.telemetry ?? (settings.metrics && new OwnTelemetry());
    return await start({ settings, environment, folder, version, telemetry, log, clock, now }, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type StartOptions = Pick<
  TeamContext,
  "settings" | "environment" | "folder" | "version" | "telemetry" | "log" | "clock" | "now"
>;

async function start(given: StartOptions, opened: Opened): Promise<TeamServer> {
  const { settings, environment, folder, version, log, clock, now } = given;
  const store = await openStore(given);
  opened.add(() => store.close());
  const configurations = new TenantConfigurations({
    store: store.configs,
    hints: store.hints,
    environment,
    maxAge: settings.policyMaxAge,
    clock,
    log,
  });
  opened.add(() => configurations[Symbol.asyncDispose]());
  const revoked = await RevokedUsers.open(store.revocations, store.hints, clock);
  opened.add(() => revoked[Symbol.dispose]());
  const callers = openCallers(given, store, revoked, opened);
  const self = { address: `${hostname()}:${settings.listen.port}`, startedAt: now() };
  const replica = await store.replicas.register({ ...self, version });
  opened.add(() => store.replicas.unregister(replica).catch(() => undefined));
  const context: TeamContext = { ...given, store, callers, revoked, configurations, replica };
  const parts = await openTeamParts(context);
  opened.add(() => parts[Symbol.asyncDispose]());
  const shared = openShared(context);
  opened.add(() => shared.parked[Symbol.dispose]());
  opened.add(() => shared.sessions[Symbol.dispose]());
  const changes = new ListChanges(store.hints, shared.sessions.process);
  opened.add(() => changes[Symbol.dispose]());
  const hosts = new UserHosts(context, parts, changes);
  const { consent, signIns } = parts;
  const gateway = createGateway({
    createHost: hosts.create,
    consent,
    shared,
    signIns,
    stateFolder: folder,
    version,
    clock,
    now,
  });
  opened.add(() => gateway[Symbol.asyncDispose]());
  shared.parked.serve(gateway);
  // The first policy is read before the first request.
  await Promise.all(tenantsOf(settings).map((tenant) => configurations.of(tenant)));
  configurations.onChange(() => gateway.reload((workspace) => hosts.configurationOf(workspace)));
  const running = new RunningReplica(context, gateway, self);
  opened.add(() => running.end());
  const listener = await listen(context, parts, gateway, running);
  shared.sessions.serve(listener);
  opened.add(await watchSettings(environment, clock, () => void configurations.reloadFiles()));
  const metrics = settings.metrics && (await listenForMetrics(settings.metrics, parts));
  if (metrics !== undefined) opened.add(() => closed(metrics.server));
  log("info", "started", { url: listener.url, replica, version });
  return {
    url: listener.url,
    metricsUrl: metrics?.url,
    reload: () => configurations.reloadFiles(),
    async drain() {
      await running.drain(listener);
      await opened.close();
      log("info", "ended");
    },
  };
}

/** Looks every few seconds whether a system settings file is another one. Returns how to stop. */
async function watchSettings(environment: Environment, clock: Clock, onChange: () => void): Promise<() => void> {
  const { files } = await locate({ environment, workspace: false });
  const paths = [files.system, files["system-defaults"]].flatMap((path) => path ?? []);
  const traces = (): Promise<string> =>
    Promise.all(
      paths.map((path) =>
        stat(path).then(
          ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
          () => "none",
        ),
      ),
    ).then((each) => each.join());
  let before = await traces();
  let stop: () => void = () => undefined;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const now = await traces();
    if (isStopped) return;
    if (now !== before) onChange();
    before = now;
    plan();
  };
  const plan = (): void => {
    stop = clock.after(times.watch, () => void look(), { background: true });
  };
  plan();
  return () => {
    isStopped = true;
    stop();
  };
}

/** What makes that any replica serves any request of a client. */
function openShared({ settings: { ring }, store, clock, log, now }: TeamContext) {
  const { messages, consumed, hints } = store;
  // New at each start: what waited in an earlier process of this machine is gone.
  const process = randomBytes(9).toString("base64url");
  return {
    key: sharedGatewayKey(ring),
    states: new EncryptedStates({ ring, consumed, messages, now }),
    parked: new ParkedAtReplicas({ process, messages, hints, clock, log, now }),
    sessions: new SharedSessions({ process, ring, messages, hints, log, now }),
  };
}

/** What was opened, to close it in the other direction. */
class Opened {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }
}

function openStore({ settings, folder, clock }: StartOptions): Promise<TeamStore> {
  const { url, lockUrl, pool, keepDays, whenAway, spool } = settings.store;
  return openPostgresStore({
    url,
    lockUrl,
    pool,
    keepDays,
    ring: settings.ring,
    spoolFolder: whenAway === "spool" ? (spool ?? join(folder, "spool")) : undefined,
    clock,
  });
}

function openCallers(given: StartOptions, store: TeamStore, revoked: RevokedUsers, opened: Opened): Callers {
  const { settings, now } = given;
  const { issuers, apiKeys, trustedProxies } = settings.auth;
  const { users, hints } = store;
  const keys = new ApiKeyVerifier({ store: store.apiKeys, users, hints, now });
  opened.add(() => keys[Symbol.dispose]());
  return new Callers({
    url: settings.url,
    tokens: issuers.length === 0 ? undefined : tokenVerifier(given, store),
    keys: apiKeys ? keys : undefined,
    revoked,
    issuers: issuers.map(({ issuer }) => issuer),
    trustedProxies,
  });
}

/** A folder of the replica instead of a workspace, in which no settings are. */
async function teamEnvironment(environment: Environment): Promise<Environment> {
  const { state } = await locate({ environment, workspace: false });
  const folder = join(state, "team");
  try {
    await ensurePrivateFolder(folder);
    await mkdir(join(folder, "users"), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw toWriteError(folder, error);
  }
  // Secrets of a keychain belong to the person of a machine.
  return { ...environment, cwd: folder, env: { ...environment.env, FAIRLEAD_SECRET_STORE: "file" } };
}

function tokenVerifier({ settings, environment, log, clock, now }: StartOptions, { users }: TeamStore): TokenVerifier {
  const fetchFor = (issuer: string) => createBoundedFetch({ near: issuer, env: environment.env });
  return new TokenVerifier(settings.auth.issuers, {
    fetchFor,
    clock,
    now,
    onVerified: ({ owner, groups, issuedAt }) =>
      void users
        .seen({ ...owner, groups, issuedAt })
        .catch((error: unknown) => log("warning", "store", { message: errorMessage(error) })),
  });
}

function tenantsOf({ auth }: TeamSettings): readonly number[] {
  return [...new Set([1, ...auth.issuers.map(({ tenant }) => tenant)])];
}

async function listen(
  { settings, callers, folder }: TeamContext,
  parts: TeamParts,
  gateway: Gateway,
  running: RunningReplica,
): Promise<HttpListener> {
  const { host, origin, protocol } = new URL(settings.url);
  const pages = new Map<string, HttpPage>([
    ["/livez", livePage],
    ["/readyz", readyPage(() => running.readiness())],
  ]);
  const admit: Admit = async (entry) => {
    const caller = await callers.identify(entry);
    if ("status" in caller) return caller;
    const { owner, groups, client } = caller;
    return {
      client: { name: client },
      workspace: { principal: { tenant: owner.tenant, id: owner.principal, groups }, cwd: folder, env: {} },
      refusal: callers.refusalOf(caller, entry.path),
    };
  };
  const { address, port } = settings.listen;
  const listening = gateway.listen({
    admit,
    address,
    port,
    limits,
    names: {
      hosts: [host, ...settings.hosts],
      origins: [origin, ...settings.hosts.map((each) => `${protocol}//${each}`)],
    },
    pageAt: (path) => pages.get(path) ?? metadataPage(callers, path) ?? parts.pageAt(path),
  });
  return listening.catch((cause: unknown) => {
    throw new HostError("usage", `cannot listen on ${address}:${port}: ${errorMessage(cause)}`, {
      cause,
      next: "Choose another fairlead.team.listen.",
    });
  });
}

/** The metadata of a protected resource (RFC 9728). Every program may read it. */
function metadataPage(callers: Callers, path: string): HttpPage | undefined {
  const metadata = callers.metadataAt(path);
  return (
    metadata && {
      anyHost: true,
      take(_, response) {
        const headers = { "content-type": "application/json", "cache-control": "max-age=300" };
        response.writeHead(200, headers).end(JSON.stringify(metadata));
      },
    }
  );
}

async function listenForMetrics(
  { address, port }: ListenAddress,
  parts: TeamParts,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    Promise.resolve(parts.metrics()).then(
      (text) => response.writeHead(200, { "content-type": prometheusType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, address, resolve);
  }).catch((cause: unknown) => {
    throw new HostError("usage", `cannot listen on ${address}:${port}: ${errorMessage(cause)}`, {
      cause,
      next: "Choose another fairlead.team.metrics.",
    });
  });
  const bound = server.address();
  const own = typeof bound === "object" && bound !== null ? bound.port : port;
  return { server, url: `http://${address.includes(":") ? `[${address}]` : address}:${own}/metrics` };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** What a replica says about itself while it runs, and how it ends. */
class RunningReplica {
  readonly #context: TeamContext;
  readonly #gateway: Gateway;
  readonly #self: Pick<Replica, "address" | "startedAt">;
  readonly #cancel = new Set<() => void>();
  readonly #working = new Set<Promise<void>>();
  #isDraining = false;
  #isEnded = false;

  constructor(context: TeamContext, gateway: Gateway, self: Pick<Replica, "address" | "startedAt">) {
    this.#context = context;
    this.#gateway = gateway;
    this.#self = self;
    this.#repeat(times.report, () => this.#report());
    this.#repeat(times.maintain, () => context.store.maintain());
  }

  async readiness(): Promise<Readiness> {
    const { settings, store, configurations, replica, version } = this.#context;
    const states = configurations.states();
    const isAway =
      settings.store.whenAway === "closed" &&
      (await store.check().then(
        () => false,
        () => true,
      ));
    const reasons = [
      ...(this.#isDraining ? ["draining"] : []),
      ...(isAway ? ["PostgreSQL is away"] : []),
      ...states.flatMap(({ age, tenant }) =>
        age > settings.policyMaxAge ? [`the policy of tenant ${tenant} is too old`] : [],
      ),
    ];
    return {
      isReady: reasons.length === 0,
      reasons,
      version,
      replica,
      config: states.map(({ tenant, version: applied, problem, age }) => ({
        tenant,
        version: applied,
        problem,
        ageSeconds: Math.round(age / 1000),
      })),
      spoolRows: store.stats.spoolRows,
    };
  }

  /** Lets balancers notice, finishes open requests, and stops listening. */
  async drain(listener: HttpListener): Promise<void> {
    const { settings, log, clock } = this.#context;
    const { wait, finish } = settings.drain;
    this.#isDraining = true;
    log("info", "draining");
    listener.beginDrain();
    await this.#report().catch(() => undefined);
    await new Promise<void>((resolve) => void clock.after(wait, resolve));
    listener.stopAccepting();
    const open = await this.#gateway.drain(finish);
    if (open > 0) log("warning", "cancelled", { open });
    await listener.close();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    for (const cancel of this.#cancel) cancel();
    await Promise.allSettled(this.#working);
  }

  async #report(): Promise<void> {
    const { store, configurations, replica, version, now } = this.#context;
    const states = configurations.states();
    await store.replicas.report({
      id: replica,
      version,
      ...this.#self,
      configVersion: Math.max(0, ...states.map((state) => state.version)),
      configProblem: states.find(({ problem }) => problem !== undefined)?.problem,
      isDraining: this.#isDraining,
      spoolRows: store.stats.spoolRows,
      policyReadAt: now() - Math.max(0, ...states.map(({ age }) => age)),
    });
  }

  /** A failure says that PostgreSQL is away, and `/readyz` says it then. */
  #repeat(interval: number, work: () => Promise<void>): void {
    let cancel: () => void = () => undefined;
    const next = (): void => {
      this.#cancel.delete(cancel);
      if (this.#isEnded) return;
      cancel = this.#context.clock.after(interval, run, { background: true });
      this.#cancel.add(cancel);
    };
    const run = (): void => {
      const working = work()
        .catch((error: unknown) => this.#context.log("warning", "store", { message: errorMessage(error) }))
        .finally(() => {
          this.#working.delete(working);
          next();
        });
      this.#working.add(working);
    };
    next();
  }
}
