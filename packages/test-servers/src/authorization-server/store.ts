/**
 * The state of the authorization server: clients, requests, codes, grants and tokens, and when each becomes invalid.
 */

import { type KeyObject, randomBytes } from "node:crypto";

export interface Client {
  readonly id: string;
  readonly secret?: string;
  readonly authentication: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
  /** For `private_key_jwt`. */
  readonly publicKey?: KeyObject;
  readonly redirectUris: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** One approval that a person gave to a client. All codes and tokens that were issued for it end with it. */
export interface Grant {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource?: string;
  isRevoked: boolean;
}

export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly challenge: string;
  readonly state?: string;
  readonly resource?: string;
}

interface Code {
  readonly request: AuthorizationRequest;
  readonly grant: Grant;
  readonly expiresAt: number;
  isSpent: boolean;
}

export interface Device {
  readonly clientId: string;
  readonly userCode: string;
  readonly scopes: readonly string[];
  readonly resource?: string;
  decision: "pending" | "approve" | "deny" | "expire";
}

export interface AccessToken {
  readonly grant: Grant;
  readonly scopes: readonly string[];
  /** The thumbprint of the key that requests with this token must prove (RFC 9449); absent for a bearer token. */
  readonly boundTo?: string;
  expiresAt: number;
}

interface RefreshToken {
  readonly grant: Grant;
  isSpent: boolean;
}

export interface Store {
  readonly clients: Map<string, Client>;
  readonly requests: Map<string, AuthorizationRequest>;
  readonly codes: Map<string, Code>;
  readonly devices: Map<string, Device>;
  readonly accessTokens: Map<string, AccessToken>;
  readonly refreshTokens: Map<string, RefreshToken>;
  /** All codes, tokens, client secrets, states and verifiers so far. None of them may appear outside. */
  readonly secrets: Set<string>;
  /** The `jti` of every accepted JWT, so that none is accepted twice. */
  readonly spentJwts: Set<string>;
}

export function createStore(): Store {
  return {
    clients: new Map(),
    requests: new Map(),
    codes: new Map(),
    devices: new Map(),
    accessTokens: new Map(),
    refreshTokens: new Map(),
    secrets: new Set(),
    spentJwts: new Set(),
  };
}

/** Creates a random secret, and records that it is secret. */
export function newSecret(store: Store, kind: string): string {
  const secret = `${kind}-${randomBytes(24).toString("base64url")}`;
  store.secrets.add(secret);
  return secret;
}

export function newAccessToken(store: Store, grant: Grant, token: Omit<AccessToken, "grant">): string {
  const text = newSecret(store, "access");
  store.accessTokens.set(text, { grant, ...token });
  return text;
}

export function newRefreshToken(store: Store, grant: Grant): string {
  const token = newSecret(store, "refresh");
  store.refreshTokens.set(token, { grant, isSpent: false });
  return token;
}

/**
 * Uses up a code or token that may be used only once. A second use means that it was stolen, so the whole grant ends.
 */
export function spend(once: { readonly grant: Grant; isSpent: boolean }): boolean {
  if (once.isSpent) once.grant.isRevoked = true;
  if (once.grant.isRevoked) return false;
  once.isSpent = true;
  return true;
}

export function findLiveToken(store: Store, token: string, now: number): AccessToken | undefined {
  const found = store.accessTokens.get(token);
  return found && !found.grant.isRevoked && now < found.expiresAt ? found : undefined;
}
