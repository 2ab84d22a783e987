/** Users whose tokens are refused although they are valid: a user who left, or whose laptop was lost. */

import type { Owner } from "./owner.ts";

export interface UserRevocation extends Owner {
  /** Tokens that were issued before this time are refused. In milliseconds since 1970. */
  readonly issuedBefore: number;
  /** When the revocation can be forgotten, because all such tokens have expired. In milliseconds since 1970. */
  readonly until: number;
}

export interface UserRevocationStore {
  revoke(revocation: UserRevocation): Promise<void>;
  /** All that are still in force. */
  list(): Promise<readonly UserRevocation[]>;
}
