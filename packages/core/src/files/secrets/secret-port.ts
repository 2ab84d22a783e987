/** What a place for secrets can do, whatever it is made of. */

export interface SecretStore {
  /** Of an empty store this is a guess: the first secret decides. */
  readonly backend: "keychain" | "file";
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
  /** Names in alphabetical order, never values. */
  list(): Promise<readonly string[]>;
}
