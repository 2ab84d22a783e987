/** The settings of the authorization server. All of them can be changed while it runs. */

import type { KeyObject } from "node:crypto";

interface PreparedClient {
  readonly clientId: string;
  /** The client's secret. A client without a secret and without a key is a public client. */
  readonly clientSecret?: string;
  /** How the client sends its secret. Default: in the Authorization header. */
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
  /** The path of the issuer below its origin, such as "" or "/tenant". Must not be changed later. */
  readonly issuerPath: string;
  /** Where the metadata is. "nowhere": clients know only the default paths, as before metadata existed. */
  metadataAt: "oauth" | "openid" | "openid-appended" | "nowhere";
  /** Fields that replace those of the metadata. A field that is `undefined` is left out. */
  metadata: Readonly<Record<string, unknown>>;
  /** "refused": the metadata names registration, but the endpoint answers with an error. */
  registration: "open" | "refused" | "absent";
  /** How a client that has registered must authenticate afterwards. */
  clientAuthentication: "none" | "client_secret_basic" | "client_secret_post";
  /** Seconds until the secret of a registered client expires; 0 means never. */
  clientSecretLife: number;
  /** Clients that were registered by hand. */
  clients: readonly PreparedClient[];
  /** Whether a client's id may be the URL of its metadata document, which the server then reads. */
  acceptsMetadataDocuments: boolean;
  /** "automatic": the server does not ask the person, and approves. */
  consent: "page" | "automatic";
  /** The value of `iss` in the answer to an authorization request. */
  iss: "right" | "wrong" | "with-slash" | "absent";
  scopes: readonly string[];
  /** Returns the scopes that are granted, given the requested scopes. */
  grants: (asked: readonly string[]) => readonly string[];
  /** Whether every request must name the resource, and always the same one. */
  requiresResource: boolean;
  /** Lifetime of a token in seconds. If undefined, answers do not contain it, and a token is valid for an hour. */
  expiresIn: number | undefined;
  refreshTokens: "rotating" | "lasting" | "none";
  tokenType: string;
  /** Whether the device flow is offered. */
  hasDeviceFlow: boolean;
  /** Seconds between two polls of a device. If undefined, the answer does not contain it. */
  deviceInterval: number | undefined;
  /** Errors for the first polls of a waiting device, one for each poll. */
  deviceErrors: readonly string[];
  hasRevocation: boolean;
  /** The only grant types that are supported; undefined means all. */
  grantTypes: readonly string[] | undefined;
  /** The issuers whose JWTs are accepted as grants. */
  trustedIssuers: readonly TrustedIssuer[];
  /**
   * "key": every token is bound to the key of a DPoP proof. "nonce": in addition, the proof needs a nonce of this
   * server.
   */
  dpop: "off" | "key" | "nonce";
  /** Milliseconds by which the server's clock is ahead of the real time. */
  clockLead: number;
  /** The person who signs in: the value of `sub` in an ID token. */
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
