/** What the replacements of Google's endpoints share: settings, accounts and issued tokens. */

import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import type { Answer } from "../authorization-server/answer.ts";
import type { Call } from "../authorization-server/authority.ts";
import { newIdToken } from "../authorization-server/id-token.ts";

/** The settings of the replacements. All of them can be changed while they run. */
export interface GoogleSettings {
  /** The machine's account, and the scopes that it may request; undefined if the machine has no account. */
  machine: { readonly email: string; readonly scopes: readonly string[] } | undefined;
  project: string;
  /** Lifetime of a token, in seconds. */
  expiresIn: number;
  /** Accounts that other accounts may impersonate. */
  impersonable: readonly string[];
  /** Checks a workload's subject token and returns the name of the workload; undefined if the token is refused. */
  workloadOf: (subjectToken: string, params: URLSearchParams) => string | undefined;
  /** Why the person's refresh token is no longer valid; undefined if it is valid. */
  refreshError: string | undefined;
}

export interface GivenToken {
  readonly account: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

export interface Cloud {
  readonly settings: GoogleSettings;
  /** The service account. Its keys are created on first use, because that is slow. */
  readonly serviceAccount: { readonly email: string; readonly keys: () => KeyPairKeyObjectResult };
  readonly person: {
    readonly email: string;
    readonly refreshToken: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
  /** Issued access tokens, with their text as the key. */
  readonly tokens: Map<string, GivenToken>;
  readonly idTokens: Set<string>;
}

export type CloudHandler = (call: Call, cloud: Cloud) => Answer;

/**
 * The key pair for all servers of a process, because creating an RSA key takes longer than most tests that need one.
 */
let keys: KeyPairKeyObjectResult | undefined;

export function createCloud(settings: GoogleSettings): Cloud {
  return {
    settings,
    serviceAccount: {
      email: "robot@project.iam.gserviceaccount.com",
      keys() {
        keys ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
        return keys;
      },
    },
    person: {
      email: "someone@example.com",
      refreshToken: "google-refresh",
      clientId: "google-client",
      clientSecret: "google-secret",
    },
    tokens: new Map(),
    idTokens: new Set(),
  };
}

export function giveAccessToken({ tokens, settings }: Cloud, account: string, scopes: readonly string[]): string {
  const token = `google-access-${tokens.size + 1}`;
  tokens.set(token, { account, scopes, expiresAt: Date.now() + settings.expiresIn * 1000 });
  return token;
}

export function giveIdToken({ idTokens, settings }: Cloud, email: string, aud: string): string {
  const exp = Math.floor(Date.now() / 1000) + settings.expiresIn;
  // Each ID token is different, so that a test can see whether a token was reused or requested again.
  const token = newIdToken({ iss: "https://accounts.google.com", aud, email, sub: email, exp, jti: idTokens.size + 1 });
  idTokens.add(token);
  return token;
}
