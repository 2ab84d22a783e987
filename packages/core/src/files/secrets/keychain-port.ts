/** The interface of a keychain. */

/** Reads and writes single entries; a keychain cannot list them. */
export interface Keychain {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Removes an entry; returns false if there was none. */
  remove(name: string): Promise<boolean>;
}
