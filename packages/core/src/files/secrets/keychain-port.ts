/** What the store of secrets sees of a keychain. */

/** All that is asked of a keychain: it cannot list what it holds. */
export interface Keychain {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
}
