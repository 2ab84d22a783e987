/** API keys for machines. Only their hashes are stored. */

import type { Owner } from "./owner.ts";

export interface ApiKey {
  readonly id: string;
  readonly owner: Owner;
  /** SHA-256 of the secret part. */
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  readonly role: string;
  /** The networks that may use the key, in CIDR notation. Empty: all. */
  readonly networks: readonly string[];
  /** In milliseconds since 1970. */
  readonly expiresAt?: number;
  readonly createdBy: string;
  /** The last day on which the key was used, such as `2026-11-18`. */
  readonly lastUsedDay?: string;
}

export interface ApiKeyStore {
  add(key: ApiKey): Promise<void>;
  /** Finds a key by its id, which is part of its text. */
  read(id: string): Promise<ApiKey | undefined>;
  /** Notes the day of use. Does nothing if it is noted already. */
  used(id: string, day: string): Promise<void>;
  /** Returns false if there was none. */
  revoke(tenant: number, id: string): Promise<boolean>;
  list(tenant: number): Promise<readonly ApiKey[]>;
}
