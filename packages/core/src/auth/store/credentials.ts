/** The types of a stored sign-in. Never print its values: they are secret. */

import type { JsonObject } from "@fairlead/wire";

/** How a client authenticates at the token endpoint (RFC 6749 §2.3.1). */
export type ClientAuthentication = "none" | "client_secret_basic" | "client_secret_post";

/** The OAuth client with which the person signed in. */
export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Default: the method in `registration`. Without one: `client_secret_basic` with a secret, `none` without. */
  readonly authentication?: ClientAuthentication;
  /** The whole response of the registration endpoint, if it was short enough to store. */
  readonly registration?: JsonObject;
  readonly redirectUri?: string;
  /** When the client expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** The tokens of a stored sign-in. Times are in milliseconds since 1970. */
export interface StoredTokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly scope?: string;
  readonly idToken?: string;
  readonly obtainedAt: number;
  /** Undefined if the authorization server did not send it. */
  readonly expiresAt?: number;
}

/** A stored sign-in: server, authorization server, OAuth client and tokens. All values are secret. */
export interface Credentials {
  /** The server's name at the time of the sign-in, for messages. */
  readonly serverName: string;
  /** The server's URL. The tokens must not go to any other server. */
  readonly serverUrl: string;
  /** A digest of the server definition, from `pinOf`. Only definitions with the same digest use this sign-in. */
  readonly pin?: string;
  /** The value of `resource` in every token request (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly account?: string;
  readonly client: StoredClient;
  /** Undefined if the client is registered, but the person is not signed in. */
  readonly tokens?: StoredTokens;
  readonly endpoints: {
    readonly token: string;
    readonly revocation?: string;
    readonly authorization?: string;
    readonly device?: string;
  };
  /** The scopes that the sign-in requested. */
  readonly scopes?: readonly string[];
  /** What a machine's next token request needs. Undefined if a person signed in. */
  readonly machine?: {
    /** The claim `aud` in the JWTs with which the client authenticates. */
    readonly assertionAudience: string;
    /** The signing algorithms that the authorization server accepts. */
    readonly signingAlgorithms?: readonly string[];
  };
  /** The private key (JWK) that the tokens are bound to (DPoP, RFC 9449). Undefined for bearer tokens. */
  readonly dpopKey?: string;
  /** The setting `oauth.audiences`. Sent with every token request. */
  readonly audiences?: readonly string[];
}
