/** What a place for secrets can do, whatever it is made of. */

export interface SecretStore {
  readonly backend: "keychain" | "file";
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
  /** Names in alphabetical order, never values. */
  list(): Promise<readonly string[]>;
}
