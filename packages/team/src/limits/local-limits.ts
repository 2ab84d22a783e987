/** Token buckets in the memory of this process: what a replica allows by itself while PostgreSQL is away. */

import type { Clock } from "@fairlead/core/clock";
import type { LimitRule, LimitStore } from "../store/limits.ts";

export class LocalLimits implements LimitStore {
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  take(key: string, rule: LimitRule, wanted: number): Promise<number> {
    return Promise.resolve(this.takeNow(key, rule, wanted));
  }

  takeNow(key: string, { rate, burst }: LimitRule, wanted: number): number {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const refilled = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * rate);
    const taken = Math.floor(Math.min(refilled, wanted));
    this.#buckets.set(key, { tokens: refilled - taken, at: now });
    return taken;
  }

  /** Forgets a bucket. It is full when it is asked for again. */
  forget(key: string): void {
    this.#buckets.delete(key);
  }
}
