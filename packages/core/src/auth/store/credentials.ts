/** Types of a stored sign-in. All values are secret. */

import type { JsonObject } from "@fairlead/wire";

/** Client authentication method at the token endpoint (RFC 6749 §2.3.1). */
export type ClientAuthentication = "none" | "client_secret_basic" | "client_secret_post";

/** The OAuth client of a stored sign-in, as it was registered or configured. */
export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /**
   * The authentication method. Default: the method in the registration response. If the response has none:
   * `client_secret_basic` for a client with a secret, and `none` for a client without one.
   */
  readonly authentication?: ClientAuthentication;
  /** The whole response of the registration endpoint. */
  readonly registration?: JsonObject;
  readonly redirectUri?: string;
  /** When the registration expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** The tokens of a stored sign-in. Times are milliseconds since 1970. */
export interface StoredTokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly scope?: string;
  readonly idToken?: string;
  readonly obtainedAt: number;
  /** Expiry time. Absent if the authorization server did not send it. */
  readonly expiresAt?: number;
}

/** A stored sign-in: the server, the authorization server, the OAuth client and the tokens. All members are secret. */
export interface Credentials {
  /** The server's name in the settings at the time of the sign-in. Only messages use it. */
  readonly serverName: string;
  /** The URL of the only server that gets the tokens. */
  readonly serverUrl: string;
  /**
   * Digest of the server definition (`pinOf`). Only definitions with the same digest use this sign-in. Absent if the
   * settings set no issuer, endpoint or client.
   */
  readonly pin?: string;
  /** The `resource` parameter of every token request (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly account?: string;
  readonly client: StoredClient;
  /** The tokens. Absent if the client is registered but the person is not signed in. */
  readonly tokens?: StoredTokens;
  readonly endpoints: {
    readonly token: string;
    readonly revocation?: string;
    readonly authorization?: string;
    readonly device?: string;
  };
  /** The scopes that the sign-in requested. */
  readonly scopes?: readonly string[];
  /** Data for a machine's next token request. Absent if a person signed in. */
  readonly machine?: {
    /** The `aud` claim of the JWTs with which the client authenticates itself. */
    readonly assertionAudience: string;
    /** Signing algorithms that the authorization server accepts for the client's JWTs. */
    readonly signingAlgorithms?: readonly string[];
  };
  /** The private key (JWK) that the tokens are bound to (RFC 9449). Absent for bearer tokens. */
  readonly dpopKey?: string;
  /** The setting `oauth.audiences`, sent with every token request. */
  readonly audiences?: readonly string[];
}
