/** What is kept of a sign-in: for which server, from which issuer, as which client, with which tokens. All of it is secret. */

import type { JsonObject } from "@fairlead/wire";

/** How a client proves to the token endpoint who it is (RFC 6749 §2.3.1). */
export type ClientAuthentication = "none" | "client_secret_basic" | "client_secret_post";

/** The OAuth client of a stored sign-in, as it was registered or configured. */
export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Absent: what the registration says; without one, `client_secret_basic` with a secret and `none` without. */
  readonly authentication?: ClientAuthentication;
  /** The answer of the registration endpoint, whole. */
  readonly registration?: JsonObject;
  readonly redirectUri?: string;
  /** In milliseconds since 1970: from then on the registration is void and another is needed. */
  readonly expiresAt?: number;
}

/** The tokens of a stored sign-in. Times are milliseconds since 1970. */
export interface StoredTokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly scope?: string;
  readonly idToken?: string;
  /** In milliseconds since 1970, as is `expiresAt`. */
  readonly obtainedAt: number;
  /** Absent: the authorization server did not say. */
  readonly expiresAt?: number;
}

/** A stored sign-in: the server, the authorization server, the OAuth client and the tokens. All of it is secret. */
export interface Credentials {
  /** The name in the settings at the time of the sign-in, for messages; it decides nothing. */
  readonly serverName: string;
  /** The tokens go nowhere else. */
  readonly serverUrl: string;
  /** Of the entry that signed in (`pinOf`): others do not use it. Absent: nothing but the server decided where. */
  readonly pin?: string;
  /** The `resource` parameter of every request for tokens (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly account?: string;
  readonly client: StoredClient;
  /** Absent: registered, but not signed in. */
  readonly tokens?: StoredTokens;
  readonly endpoints: {
    readonly token: string;
    readonly revocation?: string;
    readonly authorization?: string;
    readonly device?: string;
  };
  /** What was asked for. */
  readonly scopes?: readonly string[];
  /** The setting `oauth.audiences`: sent with every request for tokens. */
  readonly audiences?: readonly string[];
}
