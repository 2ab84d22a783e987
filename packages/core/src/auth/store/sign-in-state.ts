/** Finds the sign-in state of a server from stored files, without connecting. */

import { errorMessage } from "@fairlead/wire/text";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { expandTransport } from "../../settings/define/expand.ts";
import { present } from "../../settings/schema/present.ts";
import { scopesIn } from "../oauth/scopes.ts";
import { otherTokenHost } from "../oauth/token-host.ts";
import { bringsOwnHeader } from "../own-header.ts";
import type { Credentials } from "./credentials.ts";
import { pinOf } from "./pin.ts";
import { signInNote, tokenDigest } from "./sign-in-notes.ts";
import { isPerhapsStored } from "./stored-hint.ts";
import type { MCPOAuthTokenStorage } from "./token-storage.ts";

/** Sign-in state of a server. */
export type SignInState =
  /** Fairlead does not sign in with OAuth; `by` says how the server gets credentials. */
  | {
      readonly state: "none";
      readonly by: "program" | "header" | "google" | "service_account";
      /** Why the settings cannot work. */
      readonly problem?: string;
    }
  | {
      readonly state: "signed_in";
      readonly issuer: string;
      /** Host of the token endpoint, if it is not the issuer's host. */
      readonly tokenHost?: string;
      readonly account?: string;
      readonly scopes: readonly string[];
      /** In milliseconds since 1970. */
      readonly expiresAt?: number;
      /** Whether Fairlead can refresh the token without the person. */
      readonly isRenewable: boolean;
    }
  | { readonly state: "needed" }
  /** Not connected yet, or the server requires no sign-in. */
  | { readonly state: "unknown" };

/** What `signInStateOf` reads. */
export interface SignInFacts {
  /** Folder of this installation's state. */
  readonly folder: string;
  readonly storage: MCPOAuthTokenStorage;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** `fairlead.googleHosts`. */
  readonly googleHosts: readonly string[];
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The sign-in state of a server. */
export async function signInStateOf(definition: ServerDefinition, facts: SignInFacts): Promise<SignInState> {
  const { transport, authentication } = definition;
  if (transport.kind === "stdio") return { state: "none", by: "program" };
  const serverUrl = await urlOf(definition, facts.secret);
  if (authentication.provider !== "oauth") {
    const by = authentication.provider === "google" ? "google" : "service_account";
    const problem = serverUrl === undefined ? undefined : await problemWith(definition, serverUrl, facts);
    return { state: "none", by, ...present({ problem }) };
  }
  if (bringsOwnHeader(definition)) return { state: "none", by: "header" };
  if (serverUrl === undefined) return { state: "unknown" };
  const { folder, now } = facts;
  const pin = await pinOf(definition);
  const isStored = await isPerhapsStored(folder, serverUrl, pin);
  const stored = isStored ? await facts.storage.pinned(pin).getCredentials(serverUrl) : undefined;
  const refused = await signInNote(folder, "wanted", { serverUrl, pin });
  if (stored === undefined) return { state: refused === undefined ? "unknown" : "needed" };
  // A token newer than the refused one counts as valid until the server refuses it.
  const isRefused = stored.tokens !== undefined && (await tokenDigest(stored.tokens.accessToken)) === refused;
  return isRefused ? { state: "needed" } : stateOf(stored, now());
}

/** Undefined if the settings have no problem that is visible without a request to Google. */
async function problemWith(
  definition: ServerDefinition,
  serverUrl: string,
  { secret, googleHosts: hosts }: SignInFacts,
): Promise<string | undefined> {
  const [{ checkGoogleEntry }, { checkServiceAccountEntry }] = await Promise.all([
    import("../google/google.ts"),
    import("../google/service-account.ts"),
  ]);
  try {
    if (definition.authentication.provider === "google")
      await checkGoogleEntry(definition, { serverUrl, secret, hosts });
    else checkServiceAccountEntry(definition, { serverUrl, hosts });
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The expanded URL; undefined while a variable has no value. */
export async function urlOf(definition: ServerDefinition, secret: SignInFacts["secret"]): Promise<string | undefined> {
  if (definition.resolved === undefined) return undefined;
  const transport =
    definition.secrets.length === 0
      ? definition.resolved
      : await expandTransport(definition, secret).catch(() => definition.resolved);
  return transport === undefined || transport.kind === "stdio" ? undefined : transport.url;
}

function stateOf({ issuer, account, tokens, endpoints, scopes = [] }: Credentials, now: number): SignInState {
  // The client is registered, but the person is signed out.
  if (tokens === undefined) return { state: "needed" };
  const { expiresAt, refreshToken, scope } = tokens;
  const isRenewable = refreshToken !== undefined;
  if (!isRenewable && expiresAt !== undefined && expiresAt <= now) return { state: "needed" };
  const tokenHost = otherTokenHost(issuer, endpoints.token);
  const granted = scope === undefined ? scopes : scopesIn(scope);
  return { state: "signed_in", issuer, ...present({ account, tokenHost, expiresAt }), scopes: granted, isRenewable };
}
