/** What the stand-ins of Google's endpoints share: their settings, who there is, and the tokens they gave out. */

import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import type { Answer } from "../authorization-server/answer.ts";
import type { Call } from "../authorization-server/authority.ts";
import { newIdToken } from "../authorization-server/id-token.ts";

/** Every setting can be changed while it runs. */
export interface GoogleSettings {
  /** What the machine's account may ask for; without an account, the machine has none. */
  machine: { readonly email: string; readonly scopes: readonly string[] } | undefined;
  project: string;
  /** Seconds that a token lives. */
  expiresIn: number;
  /** Accounts that others may act as. */
  impersonable: readonly string[];
  /** Checks a workload's subject token, and names the workload; undefined: the token is refused. */
  workloadOf: (subjectToken: string, params: URLSearchParams) => string | undefined;
  /** Why the person's refresh token is no longer good; undefined: it is. */
  refreshError: string | undefined;
}

export interface GivenToken {
  readonly account: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

export interface Cloud {
  readonly settings: GoogleSettings;
  /** Its keys are made when they are first asked for: that takes its time. */
  readonly serviceAccount: { readonly email: string; readonly keys: () => KeyPairKeyObjectResult };
  readonly person: {
    readonly email: string;
    readonly refreshToken: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
  /** Access tokens, by their text. */
  readonly tokens: Map<string, GivenToken>;
  readonly idTokens: Set<string>;
}

export type CloudHandler = (call: Call, cloud: Cloud) => Answer;

/** One for all servers of a process: to make an RSA key takes longer than most tests that need one. */
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
  // Each is another one, so that a test can tell whether a token was kept or asked for again.
  const token = newIdToken({ iss: "https://accounts.google.com", aud, email, sub: email, exp, jti: idTokens.size + 1 });
  idTokens.add(token);
  return token;
}
