/** How the authorization server behaves: every setting can be changed while it runs. */

import type { KeyObject } from "node:crypto";

interface PreparedClient {
  readonly clientId: string;
  /** Without one and without a key, a public client. */
  readonly clientSecret?: string;
  /** How the secret has to come; in the header, unless said otherwise. */
  readonly authentication?: "client_secret_basic" | "client_secret_post";
  /** For `private_key_jwt`. */
  readonly publicKey?: KeyObject;
  readonly redirectUris?: readonly string[];
}

/** An issuer whose JWTs the server accepts as grants (RFC 7523). */
interface TrustedIssuer {
  readonly issuer: string;
  readonly publicKey: KeyObject;
}

export interface AuthorizationSettings {
  /** The path of the issuer, below its origin: "" or, for instance, "/tenant". Not to be changed later. */
  readonly issuerPath: string;
  /** Where the metadata is found; "nowhere": only the paths are known, as before there was metadata. */
  metadataAt: "oauth" | "openid" | "openid-appended" | "nowhere";
  /** Laid over the metadata; a field that is `undefined` is left out of it. */
  metadata: Readonly<Record<string, unknown>>;
  /** "refused": advertised, and then answered with an error. */
  registration: "open" | "refused" | "absent";
  /** How a client that registers must prove itself afterwards. */
  clientAuthentication: "none" | "client_secret_basic" | "client_secret_post";
  /** Seconds until a registered client's secret ends; 0: never. */
  clientSecretLife: number;
  /** Those that were registered by hand. */
  clients: readonly PreparedClient[];
  /** Whether the address of a metadata document is taken for a client's id; the document is then read. */
  acceptsMetadataDocuments: boolean;
  /** "automatic": nobody is asked, the answer is yes. */
  consent: "page" | "automatic";
  /** What `iss` of the answer to an authorization request says. */
  iss: "right" | "wrong" | "with-slash" | "absent";
  scopes: readonly string[];
  /** What is granted of what is asked for. */
  grants: (asked: readonly string[]) => readonly string[];
  /** Whether every request must name the resource, the same each time. */
  requiresResource: boolean;
  /** Seconds; without it, the answer says nothing and the token lives for an hour. */
  expiresIn: number | undefined;
  refreshTokens: "rotating" | "lasting" | "none";
  tokenType: string;
  /** Whether the device flow is offered. */
  hasDeviceFlow: boolean;
  /** Seconds between two questions of a device; without it, the answer says nothing. */
  deviceInterval: number | undefined;
  /** Errors that a waiting device gets first, one for each question. */
  deviceErrors: readonly string[];
  hasRevocation: boolean;
  /** The only grants that are given; undefined: all. */
  grantTypes: readonly string[] | undefined;
  /** Whose JWTs are accepted as grants. */
  trustedIssuers: readonly TrustedIssuer[];
  /** "key": every token is bound to the key of a DPoP proof; "nonce": and the proof needs a nonce of this server. */
  dpop: "off" | "key" | "nonce";
  /** Milliseconds that the server's clock is ahead of everybody else's. */
  clockLead: number;
  /** The person who signs in, as `sub` of an ID token. */
  account: string;
}

export function defaultSettings(): AuthorizationSettings {
  return {
    issuerPath: "",
    metadataAt: "oauth",
    metadata: {},
    registration: "open",
    clientAuthentication: "none",
    clientSecretLife: 0,
    clients: [],
    acceptsMetadataDocuments: false,
    consent: "page",
    iss: "right",
    scopes: ["read", "write"],
    grants: (asked) => asked,
    requiresResource: true,
    expiresIn: 3600,
    refreshTokens: "rotating",
    tokenType: "Bearer",
    hasDeviceFlow: true,
    deviceInterval: 5,
    deviceErrors: [],
    hasRevocation: true,
    grantTypes: undefined,
    trustedIssuers: [],
    dpop: "off",
    clockLead: 0,
    account: "someone@example.com",
  };
}
