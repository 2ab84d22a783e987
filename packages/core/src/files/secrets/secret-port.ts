/** The interface of a secret store. */
export interface SecretStore {
  /** Where secrets are stored. This may change until the first secret is stored. */
  readonly backend: "keychain" | "file";
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Removes a secret; returns false if there was none. */
  remove(name: string): Promise<boolean>;
  /** The names of all secrets in alphabetical order. Values are never listed. */
  list(): Promise<readonly string[]>;
}

/** Reads and writes single entries. There is no `list`, because a keychain cannot list its entries. */
export interface Keychain {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Removes an entry; returns false if there was none. */
  remove(name: string): Promise<boolean>;
}
