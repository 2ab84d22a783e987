/** What the server of a team knows of its people: what they have approved and accepted, their groups, and how much they may send. */

import { readLimitSettings } from "../limits/limit-settings.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import type { HostParts, TeamContext, TeamUser } from "../serve/team-parts.ts";
import { UserApprovals } from "./user-approvals.ts";
import { userDefinitions } from "./user-definitions.ts";

/** Milliseconds between two looks how many replicas run. */
const replicasInterval = 10_000;

export class People implements Disposable {
  readonly #context: TeamContext;
  readonly #limits: RateLimits;
  #replicas = 1;
  #cancel: (() => void) | undefined;
  #isDisposed = false;

  /** @throws HostError `settings_invalid` for limits that cannot be read */
  constructor(context: TeamContext) {
    const { settings, store, clock } = context;
    this.#context = context;
    this.#limits = new RateLimits({
      settings: readLimitSettings(settings.limits),
      store: store.limits,
      replicas: () => this.#replicas,
      clock,
    });
    void this.#countReplicas();
  }

  hostParts(user: TeamUser): HostParts {
    const { store, clock } = this.#context;
    const { tenant, principal } = user;
    const owner = { tenant, principal };
    const savedApprovals = new UserApprovals({ store: store.approvals, hints: store.hints, owner, clock });
    return {
      options: { savedApprovals, acceptedDefinitions: userDefinitions(store, owner) },
      close: () => savedApprovals[Symbol.dispose](),
    };
  }

  /** @throws HostError `busy` */
  take(user: TeamUser, server: string): Promise<void> {
    return this.#limits.take(user, server);
  }

  /** The requests that were refused because there were too many. */
  get refused(): number {
    return this.#limits.refused;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#cancel?.();
  }

  /** While PostgreSQL is away, the last number counts. */
  async #countReplicas(): Promise<void> {
    const { store, clock } = this.#context;
    const found = await store.replicas.list().catch(() => undefined);
    if (found !== undefined) this.#replicas = Math.max(1, found.length);
    if (this.#isDisposed) return;
    this.#cancel = clock.after(replicasInterval, () => void this.#countReplicas(), { background: true });
  }
}
