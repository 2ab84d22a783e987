/** The OAuth clients that Fairlead has registered at the issuers of servers. */

export interface ClientKey {
  readonly tenant: number;
  readonly issuer: string;
  readonly redirectUri: string;
}

export interface ClientStore {
  /** The registration as text. */
  read(key: ClientKey): Promise<string | undefined>;
  /** Stores a registration. If another replica was first, returns its registration, which all then use. */
  add(key: ClientKey, registration: string): Promise<string>;
  /** Removes a registration that the issuer no longer knows, unless it was replaced meanwhile. */
  remove(key: ClientKey, registration: string): Promise<void>;
}
