/** The interface of a secret store. */
export interface SecretStore {
  /** Where secrets are stored; may still change before the first secret is stored. */
  readonly backend: "keychain" | "file";
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Removes a secret; returns false if there was none. */
  remove(name: string): Promise<boolean>;
  /** Names in alphabetical order, never values. */
  list(): Promise<readonly string[]>;
}

/** Reads and writes single entries; a keychain cannot list them. */
export interface Keychain {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Removes an entry; returns false if there was none. */
  remove(name: string): Promise<boolean>;
}
