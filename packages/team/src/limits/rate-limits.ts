/**
 * Limits how often the users of a team send requests, over all replicas. A replica takes shares of many tokens from the
 * shared bucket and spends them without asking again, so a request costs no query. All replicas together allow at most
 * one share each more than the limit says.
 */

import { HostError } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import type { LimitStore } from "../store/limits.ts";
import type { Owner } from "../store/owner.ts";
import { isStoreAway } from "../store/store.ts";
import type { LimitSettings, RateRule } from "./limit-settings.ts";
import { LocalLimits } from "./local-limits.ts";

/** Milliseconds until an empty bucket is asked again, at least, and until the store is asked again that was away. */
const pauses = { empty: 50, away: 1000 } as const;
/** The most tokens of a share, and those of a share if the rule allows as many. */
const shares = { most: 100, usual: 20 } as const;
/** Buckets of users that have sent nothing for longest are forgotten, with the rest of their share. */
const mostBuckets = 20_000;

export interface RateLimitsOptions {
  readonly settings: LimitSettings;
  readonly store: LimitStore;
  /** How many replicas ran when this one last knew. */
  readonly replicas: () => number;
  readonly clock: Pick<Clock, "now">;
}

/** How many tokens a replica takes at once. */
export function shareOf({ rate, burst }: Pick<RateRule, "rate" | "burst">): number {
  const wanted = Math.min(shares.most, Math.max(shares.usual, rate / 10));
  // One replica must not take what all of them have.
  return Math.max(1, Math.floor(Math.min(wanted, burst / 2)));
}

export class RateLimits {
  readonly #options: RateLimitsOptions;
  readonly #local: LocalLimits;
  /** Least recently used first. */
  readonly #leases = new Map<string, Lease>();
  #refused = 0;

  constructor(options: RateLimitsOptions) {
    this.#options = options;
    this.#local = new LocalLimits(options.clock);
  }

  /** How many requests were refused. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Takes one request of a user to a server.
   *
   * @throws HostError `busy` if there were too many
   */
  async take({ tenant, principal }: Owner, server: string): Promise<void> {
    const { perUser, perServer } = this.#options.settings;
    if (perUser !== undefined)
      await this.#takeOne(`user ${tenant} ${principal}`, perUser, "this user may send", server);
    const ofServer = perServer.get(server);
    if (ofServer !== undefined) await this.#takeOne(`server ${tenant} ${server}`, ofServer, `"${server}" gets`, server);
  }

  async #takeOne(key: string, rule: RateRule, who: string, serverName: string): Promise<void> {
    const retryAfter = await this.#leaseOf(key, rule).take();
    if (retryAfter === undefined) return;
    this.#refused += 1;
    const seconds = Math.max(1, Math.ceil(retryAfter / 1000));
    throw new HostError("busy", `too many requests: ${who} ${rule.text}`, {
      serverName,
      retryAfter: Math.ceil(retryAfter),
      next: `Send the request again after ${seconds} s.`,
    });
  }

  #leaseOf(key: string, rule: RateRule): Lease {
    const lease = this.#leases.get(key) ?? new Lease(key, rule, this.#options, this.#local);
    this.#leases.delete(key);
    this.#leases.set(key, lease);
    const [oldest] = this.#leases.keys();
    if (oldest !== undefined && this.#leases.size > mostBuckets) {
      this.#leases.delete(oldest);
      this.#local.forget(oldest);
    }
    return lease;
  }
}

/** What this replica has of one shared bucket. */
class Lease {
  readonly #key: string;
  readonly #rule: RateRule;
  readonly #options: RateLimitsOptions;
  readonly #local: LocalLimits;
  #tokens = 0;
  /** The bucket is not asked before this time of the clock. */
  #emptyUntil = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #taking: Promise<void> | undefined;

  constructor(key: string, rule: RateRule, options: RateLimitsOptions, local: LocalLimits) {
    this.#key = key;
    this.#rule = rule;
    this.#options = options;
    this.#local = local;
  }

  /** Takes one token. Otherwise returns after how many milliseconds there may be one. */
  async take(): Promise<number | undefined> {
    const { clock } = this.#options;
    while (this.#tokens < 1) {
      if (this.#isAway) {
        // No request waits for a store that is away. When it answers again, its tokens count.
        if (clock.now() >= this.#emptyUntil) this.#ask().catch(() => undefined);
        return this.#takeAlone();
      }
      const wait = this.#emptyUntil - clock.now();
      if (wait > 0) return wait;
      await this.#ask();
    }
    this.#tokens -= 1;
    return undefined;
  }

  #takeAlone(): number | undefined {
    const { rate, burst, whenAway } = this.#rule;
    if (whenAway === "closed") return pauses.away;
    const replicas = Math.max(1, this.#options.replicas());
    const part = { rate: rate / replicas, burst: Math.max(1, burst / replicas) };
    return this.#local.takeNow(this.#key, part, 1) === 1 ? undefined : 1000 / part.rate;
  }

  #ask(): Promise<void> {
    this.#taking ??= this.#takeShare().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #takeShare(): Promise<void> {
    const { store, clock } = this.#options;
    try {
      const taken = await store.take(this.#key, this.#rule, shareOf(this.#rule));
      this.#isAway = false;
      this.#tokens += taken;
      if (taken === 0) this.#emptyUntil = clock.now() + Math.max(pauses.empty, 1000 / this.#rule.rate);
    } catch (error) {
      if (!isStoreAway(error)) throw error;
      this.#isAway = true;
      this.#emptyUntil = clock.now() + pauses.away;
    }
  }
}
