/** The users that this gateway has seen, with the groups of their latest tokens: rows of the ledger have no groups. */

import type { Owner } from "./owner.ts";

export interface SeenUser extends Owner {
  /** Sorted. */
  readonly groups: readonly string[];
  /** When the token was issued, in milliseconds since 1970. */
  readonly issuedAt: number;
}

export interface UserStore {
  /** Notes the groups of a user's token. Those of a token that was issued later stay. */
  seen(user: SeenUser): Promise<void>;
  /** The groups of these users of a tenant. A user who was never seen is left out. */
  groupsOf(tenant: number, principals: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}
