/** Rate limits that all replicas share. */

export interface LimitRule {
  /** Tokens a second. */
  readonly rate: number;
  /** The most tokens that collect while no replica takes any. */
  readonly burst: number;
}

export interface LimitStore {
  /**
   * Takes up to `wanted` tokens from the shared bucket of `key`. Returns how many were there: a share, which the replica
   * then spends without asking again.
   */
  take(key: string, rule: LimitRule, wanted: number): Promise<number>;
}
