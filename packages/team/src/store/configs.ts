/** The versions of policy and settings. Every replica applies them in order. */

export type ConfigKind = "policy" | "settings";

export interface NewConfig {
  readonly tenant: number;
  readonly kind: ConfigKind;
  readonly body: string;
  /** The principal who pushed it. */
  readonly author: string;
}

export interface ConfigVersion extends NewConfig {
  /** Increases with every push of any kind. A version that is visible is never followed by a smaller one. */
  readonly version: number;
  /** SHA-256 of the body, in hex. */
  readonly sha256: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

export interface ConfigStore {
  /**
   * Adds a version, which is the current one then.
   *
   * @param expected The version that the author has seen as current (0: none). If another one is current, rejects with `changed`.
   */
  push(config: NewConfig, expected?: number): Promise<ConfigVersion>;
  current(tenant: number, kind: ConfigKind): Promise<ConfigVersion | undefined>;
  read(tenant: number, version: number): Promise<ConfigVersion | undefined>;
  /** The versions after `version`, oldest first. */
  since(tenant: number, version: number): Promise<readonly ConfigVersion[]>;
}
