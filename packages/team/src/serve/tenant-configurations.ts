/**
 * The settings and rules of each tenant: the system settings of this machine, and the versions that an administrator has
 * pushed. Every replica applies the versions in order. One that cannot be applied is refused, and the one before goes on.
 */

import { HostError } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import type { Environment } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";
import { errorMessage } from "@fairlead/wire/text";
import { loadTenantConfiguration } from "../settings/tenant-configuration.ts";
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
  /** For how many milliseconds the last versions count that could be read. */
  readonly maxAge: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds after which the versions are read again, in case that a hint was lost. */
const interval = 15_000;

interface Tenant {
  readonly number: number;
  current: TenantConfiguration;
  /** The applied version of each kind. */
  readonly applied: Map<ConfigKind, ConfigVersion>;
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
      this.#opened.map((tenant) => this.#inTurn(tenant, () => this.#build(tenant.applied, tenant.current.version))),
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
      current: { configuration: await loadTenantConfiguration(this.#options.environment, {}), version: 0 },
      applied: new Map(),
      seen: 0,
      problem: undefined,
      readAt,
      queue: Promise.resolve(),
    };
    await this.#apply(tenant, found.toSorted(byVersion));
    if (tenant.problem !== undefined) {
      const { problem } = tenant;
      tenant.applied.clear();
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
    for (const pushed of versions) {
      const { version, kind } = pushed;
      const built = await this.#build(new Map(tenant.applied).set(kind, pushed), version);
      tenant.seen = Math.max(tenant.seen, version);
      if (built instanceof HostError) {
        tenant.problem = `version ${version} of the ${kind} is refused: ${built.message}`;
        log("error", "config_refused", { tenant: tenant.number, version, kind, message: built.message });
        continue;
      }
      tenant.applied.set(kind, pushed);
      tenant.problem = undefined;
      tenant.current = built;
      log("info", "config_applied", { tenant: tenant.number, version, kind });
    }
  }

  /** Returns the error if it cannot be applied. */
  async #build(
    applied: ReadonlyMap<ConfigKind, ConfigVersion>,
    version: number,
  ): Promise<TenantConfiguration | HostError> {
    const policy = applied.get("policy");
    try {
      const configuration = await loadTenantConfiguration(this.#options.environment, {
        settings: applied.get("settings")?.body,
        policy: policy && { name: policyName(policy), text: policy.body },
      });
      return { configuration, version };
    } catch (error) {
      return error instanceof HostError ? error : new HostError("internal", errorMessage(error), { cause: error });
    }
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

/** What messages and rules call a pushed policy. */
export function policyName({ version }: Pick<ConfigVersion, "version">): string {
  return `policy version ${version}`;
}

function byVersion(one: ConfigVersion, other: ConfigVersion): number {
  return one.version - other.version;
}
