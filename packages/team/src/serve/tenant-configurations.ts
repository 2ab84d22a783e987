/**
 * The settings and rules of each tenant: the system settings of this machine, and the versions that an administrator has
 * pushed. Every replica applies the versions in order. One that cannot be applied is refused, and the one before goes on.
 */

import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import { demoName } from "@fairlead/core/host";
import { loadPolicies } from "@fairlead/core/policy";
import type { Environment, Problem } from "@fairlead/core/settings";
import { type AdmittedServer, type Configuration, loadConfiguration } from "@fairlead/core/trust";
import { errorMessage } from "@fairlead/wire/text";
import type { ConfigKind, ConfigStore, ConfigVersion } from "../store/configs.ts";
import type { Hints } from "../store/hints.ts";
import type { Log } from "./log.ts";

/** What a tenant applies now. */
export interface TenantConfiguration {
  readonly configuration: Configuration;
  /** The latest version that is applied. 0: none was pushed. */
  readonly version: number;
}

/** What is reported of a tenant. */
export interface TenantState {
  readonly tenant: number;
  readonly version: number;
  /** Why a newer version is not applied. */
  readonly problem: string | undefined;
  /** How long ago the versions were last read, in milliseconds. */
  readonly age: number;
}

export interface TenantConfigurationsOptions {
  readonly store: ConfigStore;
  readonly hints: Hints;
  /** Where the system settings are. Its folder is empty, so no workspace has a part in it. */
  readonly environment: Environment;
  /** A folder of this replica for the rules of pushed versions. */
  readonly folder: string;
  /** For how many milliseconds the last versions count that could be read. */
  readonly maxAge: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds after which the versions are read again, in case that a hint was lost. */
const interval = 15_000;

/**
 * The name of the workspace that a team does not have. Approvals, task ids and accepted definitions contain it, so it is the
 * same on all replicas.
 */
const root = "/team";

interface Tenant {
  readonly number: number;
  current: TenantConfiguration;
  readonly bodies: Map<ConfigKind, string>;
  /** The latest version that was read, applied or not. */
  seen: number;
  problem: string | undefined;
  readAt: number;
  /** What is done for a tenant is done one after the other. */
  queue: Promise<unknown>;
}

export class TenantConfigurations implements AsyncDisposable {
  readonly #options: TenantConfigurationsOptions;
  readonly #tenants = new Map<number, Promise<Tenant>>();
  readonly #opened: Tenant[] = [];
  readonly #listeners = new Set<() => Promise<void>>();
  readonly #stop: () => void;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: TenantConfigurationsOptions) {
    this.#options = options;
    this.#stop = options.hints.listen("config", () => void this.#follow());
    this.#plan();
  }

  /**
   * What a tenant applies now. Reads it first, if this replica has not served the tenant before.
   *
   * @throws HostError `unreachable` if it was never read, or if the last reading is too old
   */
  async of(tenant: number): Promise<TenantConfiguration> {
    const opened = this.#opened.find(({ number }) => number === tenant) ?? (await this.#open(tenant));
    this.checkAge(tenant);
    return opened.current;
  }

  /** What an opened tenant applies now. */
  current(tenant: number): TenantConfiguration | undefined {
    return this.#opened.find(({ number }) => number === tenant)?.current;
  }

  /** @throws HostError `unreachable` if the rules of the tenant were last read too long ago */
  checkAge(tenant: number): void {
    const { clock, maxAge } = this.#options;
    const opened = this.#opened.find(({ number }) => number === tenant);
    if (opened === undefined || clock.now() - opened.readAt <= maxAge) return;
    throw new HostError("unreachable", "the policy was last read too long ago: PostgreSQL is away", {
      next: "Start PostgreSQL, or raise fairlead.team.policyMaxAge.",
    });
  }

  states(): readonly TenantState[] {
    const now = this.#options.clock.now();
    return this.#opened.map(({ number, current, problem, readAt }) => ({
      tenant: number,
      version: current.version,
      problem,
      age: Math.round(now - readAt),
    }));
  }

  /** Calls `listener` after a change. The next change waits for it. Returns how to stop. */
  onChange(listener: () => Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the system settings again. If they are broken, the old ones go on. */
  async reloadFiles(): Promise<void> {
    const results = await Promise.all(
      this.#opened.map((tenant) =>
        this.#inTurn(tenant, () => this.#build(tenant, tenant.bodies, tenant.current.version)),
      ),
    );
    for (const [at, tenant] of this.#opened.entries()) {
      const built = results[at];
      if (built instanceof HostError)
        this.#options.log("error", "settings_refused", { tenant: tenant.number, message: built.message });
      else if (built !== undefined) tenant.current = built;
    }
    await this.#tell();
    this.#options.log("info", "settings_read");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    this.#cancel?.();
    await Promise.allSettled(this.#tenants.values());
    await Promise.allSettled(this.#opened.map(({ queue }) => queue));
  }

  #open(tenant: number): Promise<Tenant> {
    const opening = this.#tenants.get(tenant) ?? this.#read(tenant);
    this.#tenants.set(tenant, opening);
    // The next request tries again.
    opening.catch(() => this.#tenants.delete(tenant));
    return opening;
  }

  /** The current versions. If one of them is refused, the newest older ones that are not. */
  async #read(number: number): Promise<Tenant> {
    const { store, clock } = this.#options;
    const readAt = clock.now();
    const kinds: readonly ConfigKind[] = ["settings", "policy"];
    const found = (await Promise.all(kinds.map((kind) => store.current(number, kind)))).flatMap((each) => each ?? []);
    const tenant: Tenant = {
      number,
      current: { configuration: await this.#configuration({ number }, new Map(), 0), version: 0 },
      bodies: new Map(),
      seen: 0,
      problem: undefined,
      readAt,
      queue: Promise.resolve(),
    };
    await this.#apply(tenant, found.toSorted(byVersion));
    if (tenant.problem !== undefined) {
      const { problem } = tenant;
      tenant.bodies.clear();
      await this.#apply(tenant, await store.since(number, 0));
      tenant.problem = problem;
    }
    this.#opened.push(tenant);
    return tenant;
  }

  async #follow(): Promise<void> {
    const changed = await Promise.allSettled(
      this.#opened.map((tenant) => this.#inTurn(tenant, () => this.#catchUp(tenant))),
    );
    if (changed.some((each) => each.status === "fulfilled" && each.value)) await this.#tell();
  }

  async #catchUp(tenant: Tenant): Promise<boolean> {
    const { store, clock } = this.#options;
    const readAt = clock.now();
    const before = tenant.current;
    await this.#apply(tenant, await store.since(tenant.number, tenant.seen));
    tenant.readAt = readAt;
    return tenant.current !== before;
  }

  async #apply(tenant: Tenant, versions: readonly ConfigVersion[]): Promise<void> {
    const { log } = this.#options;
    for (const { version, kind, body } of versions) {
      const bodies = new Map(tenant.bodies).set(kind, body);
      const built = await this.#build(tenant, bodies, version);
      tenant.seen = Math.max(tenant.seen, version);
      if (built instanceof HostError) {
        tenant.problem = `version ${version} of the ${kind} is refused: ${built.message}`;
        log("error", "config_refused", { tenant: tenant.number, version, kind, message: built.message });
        continue;
      }
      tenant.bodies.set(kind, body);
      tenant.problem = undefined;
      tenant.current = built;
      log("info", "config_applied", { tenant: tenant.number, version, kind });
    }
  }

  /** Returns the error if it cannot be applied. */
  async #build(
    tenant: Pick<Tenant, "number">,
    bodies: ReadonlyMap<ConfigKind, string>,
    version: number,
  ): Promise<TenantConfiguration | HostError> {
    try {
      return { configuration: await this.#configuration(tenant, bodies, version), version };
    } catch (error) {
      return error instanceof HostError ? error : new HostError("internal", errorMessage(error), { cause: error });
    }
  }

  /** @throws HostError `settings_invalid` */
  async #configuration(
    { number }: Pick<Tenant, "number">,
    bodies: ReadonlyMap<ConfigKind, string>,
    version: number,
  ): Promise<Configuration> {
    const { environment, folder } = this.#options;
    const userSettings = bodies.get("settings") ?? "{}";
    // There is no workspace, and its administrator trusts the settings of the machine.
    const loaded = await loadConfiguration({ environment, workspace: false, userSettings, embedderTrust: true });
    const administrator = await policyFolder(
      join(folder, String(number), String(version)),
      loaded.locations.policies.administrator,
      bodies.get("policy"),
    );
    const policies = { administrator, user: join(folder, "none"), workspace: undefined };
    const configuration = teamConfiguration({ ...loaded, locations: { ...loaded.locations, root, policies } });
    const rules = await loadPolicies(configuration);
    refuseProblems([...configuration.problems.filter(concernsAll), ...rules.problems]);
    return configuration;
  }

  async #tell(): Promise<void> {
    await Promise.allSettled([...this.#listeners].map((listener) => listener()));
  }

  #inTurn<Result>(tenant: Tenant, work: () => Promise<Result>): Promise<Result> {
    const result = tenant.queue.then(work);
    tenant.queue = result.catch(() => undefined);
    return result;
  }

  #plan(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.after(interval, () => void this.#follow().finally(() => this.#plan()), {
      background: true,
    });
  }
}

/** The rules of the machine, and the pushed ones. Without pushed rules: the folder of the machine as it is. */
async function policyFolder(own: string, machine: string, pushed: string | undefined): Promise<string> {
  if (pushed === undefined) return machine;
  await rm(own, { recursive: true, force: true });
  await mkdir(own, { recursive: true, mode: 0o700 });
  await writeFile(join(own, "pushed-policy.toml"), pushed, { mode: 0o600 });
  const files = (await readdir(machine).catch(() => [])).filter((name) => /[.]toml$/i.test(name));
  // A link, because a change of the file counts at once.
  await Promise.all(files.map((name) => symlink(join(machine, name), join(own, `machine-${name}`))));
  return own;
}

/** The configuration without what a team does not have: stdio servers and the demo. */
function teamConfiguration(configuration: Configuration): Configuration {
  const { settings } = configuration;
  const isDemo = settings.servers.some(({ name }) => name === demoName);
  const names = isDemo ? settings.excluded.names : new Set([...settings.excluded.names, demoName]);
  return {
    ...configuration,
    settings: { ...settings, excluded: { ...settings.excluded, names } },
    servers: configuration.servers.map(withoutStdio),
  };
}

function withoutStdio({ server, admission }: AdmittedServer): AdmittedServer {
  if (server.kind !== "stdio" || admission.status === "disabled") return { server, admission };
  return {
    server,
    admission: {
      status: "disabled",
      reason: "user",
      message: `"${server.name}" is off: it is a stdio server, and the gateway of a team starts none`,
      next: `Run it as an HTTP server, and write its address as "httpUrl" of "${server.name}".`,
    },
  };
}

/** Whether a problem is about more than one server: a server with a mistake is off, and the others work. */
function concernsAll({ serverName }: Problem): boolean {
  return serverName === undefined;
}

function refuseProblems(problems: readonly Problem[]): void {
  const found = problems.find(({ severity }) => severity === "error");
  if (found === undefined) return;
  const { message, origin, next } = found;
  const at = origin === undefined ? "" : ` (line ${origin.line}, column ${origin.column})`;
  throw new HostError("settings_invalid", `${message}${at}`, next === undefined ? {} : { next });
}

function byVersion(one: ConfigVersion, other: ConfigVersion): number {
  return one.version - other.version;
}
