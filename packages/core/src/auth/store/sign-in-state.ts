/** Finds out from stored files whether a person is signed in to a server. Does not connect. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "@fairlead/wire/text";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { expandTransport, withoutCommands } from "../../settings/define/expand.ts";
import { scopesIn } from "../oauth/challenge.ts";
import { otherTokenHost } from "../oauth/discovery.ts";
import type { Credentials } from "./credentials.ts";
import { signInNote, tokenDigest } from "./sign-in-notes.ts";
import type { MCPOAuthTokenStorage } from "./token-storage.ts";

/** Whether a person is signed in to a server, or must sign in. */
export type SignInState =
  /** No person signs in to this server. `by` says where its credentials come from. */
  | {
      readonly state: "none";
      readonly by: "program" | "header" | "google" | "service_account" | "machine";
      /** What is wrong in the server's settings, for the user. */
      readonly problem?: string;
    }
  | {
      readonly state: "signed_in";
      readonly issuer: string;
      /** The host of the token endpoint. Undefined if it is the issuer's host. */
      readonly tokenHost?: string;
      readonly account?: string;
      readonly scopes: readonly string[];
      /** Expiry time in milliseconds since 1970. */
      readonly expiresAt?: number;
      /** True if Fairlead can renew the token without the person. */
      readonly isRenewable: boolean;
    }
  | { readonly state: "needed" }
  /** Fairlead has never connected, the server requires no sign-in, or a variable in the server's URL is not set. */
  | { readonly state: "unknown" };

/** Where sign-ins and secrets are stored. */
export interface SignInFacts {
  /** The folder for this installation's state. */
  readonly folder: string;
  readonly storage: MCPOAuthTokenStorage;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The setting `fairlead.googleHosts`. */
  readonly googleHosts: readonly string[];
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** Returns the sign-in state of one server. May open the keychain if a sign-in may be stored. */
export async function signInStateOf(definition: ServerDefinition, facts: SignInFacts): Promise<SignInState> {
  const { transport, authentication } = definition;
  if (transport.kind === "stdio") return { state: "none", by: "program" };
  const serverUrl = await urlOf(definition, facts.secret);
  if (authentication.provider !== "oauth") {
    const by = authentication.provider === "google" ? "google" : "service_account";
    const problem = serverUrl === undefined ? undefined : await problemWith(definition, serverUrl, facts);
    return { state: "none", by, problem };
  }
  if (definition.extras.machineAuth !== undefined) return { state: "none", by: "machine" };
  if (bringsOwnHeader(definition)) return { state: "none", by: "header" };
  if (serverUrl === undefined) return { state: "unknown" };
  const { folder, now } = facts;
  const pin = await pinOf(definition);
  const isStored = await isPerhapsStored(folder, serverUrl, pin);
  const stored = isStored ? await facts.storage.pinned(pin).getCredentials(serverUrl) : undefined;
  const refused = await signInNote(folder, "wanted", { serverUrl, pin });
  if (stored === undefined) return { state: refused === undefined ? "unknown" : "needed" };
  // A stored token counts as valid until the server refuses it or it expires.
  const isRefused = stored.tokens !== undefined && (await tokenDigest(stored.tokens.accessToken)) === refused;
  return isRefused ? { state: "needed" } : stateOf(stored, now());
}

/** Returns what is wrong in the settings for Google sign-in. Sends no request. */
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
      await checkGoogleEntry(definition, { serverUrl, secret: withoutCommands(secret), hosts });
    else checkServiceAccountEntry(definition, { serverUrl, hosts });
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Returns the server's URL with its variables expanded. Undefined if a variable is not set. */
export async function urlOf(definition: ServerDefinition, secret: SignInFacts["secret"]): Promise<string | undefined> {
  if (definition.resolved === undefined) return undefined;
  const transport =
    definition.secrets.length === 0
      ? definition.resolved
      : await expandTransport(definition, withoutCommands(secret)).catch(() => definition.resolved);
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
  return { state: "signed_in", issuer, account, tokenHost, expiresAt, scopes: granted, isRenewable };
}

/**
 * Whether the definition has its own `Authorization` header, so that OAuth is not needed. `oauth.enabled` overrides
 * this.
 */
export function bringsOwnHeader({ transport, authentication }: ServerDefinition): boolean {
  if (authentication.provider === "oauth" && authentication.oauth.enabled === true) return false;
  return (
    transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => name.toLowerCase() === "authorization")
  );
}

/**
 * Returns a digest of the issuer, endpoints, client and machine identity in a definition. Definitions with different
 * digests have separate sign-ins. Undefined if none of these is set.
 */
export async function pinOf(definition: ServerDefinition): Promise<string | undefined> {
  const { authentication, extras, scope, base } = definition;
  if (authentication.provider !== "oauth") return undefined;
  const { issuer, authorizationUrl, tokenUrl, registrationUrl, clientId } = authentication.oauth;
  const { machineAuth } = extras;
  // Another key, assertion or client means another machine.
  const machine = machineAuth && JSON.stringify(machineAuth.settings);
  const pinned = [issuer, extras.issuerOverride, authorizationUrl, tokenUrl, registrationUrl, clientId, machine];
  if (pinned.every((setting) => setting === undefined)) return undefined;
  const { createHash } = await import("node:crypto");
  const written = machine === undefined ? pinned.slice(0, -1) : pinned;
  // A workspace's settings apply only there, so its folder is part of the digest.
  const whole = JSON.stringify([scope === "workspace" ? base.folder : null, ...written.map((text) => text ?? null)]);
  return createHash("sha256").update(whole).digest("hex");
}

/** These files contain the names of secrets in plain text: one for the encrypted file, one for the keychain. */
const files = ["secrets.json", "secret-names.json"];

/** Returns false if certainly no sign-in is stored. Reads only the names of secrets, and opens no keychain. */
export async function isPerhapsStored(state: string, serverUrl: string, pin?: string): Promise<boolean> {
  const folder = join(state, "sign-ins");
  const texts = (await Promise.all(files.map((file) => textOf(join(folder, file))))).filter((text) => text !== "");
  if (texts.length === 0) return false;
  const [{ secretNameOf }, { canonicalServerUrl }] = await Promise.all([
    import("./token-storage.ts"),
    import("./stored-credentials.ts"),
  ]);
  const url = canonicalServerUrl(serverUrl);
  if (url === undefined) return false;
  const name = await secretNameOf(url, pin);
  return texts.some((text) => text === undefined || text.includes(name));
}

/** Returns an empty text if the file does not exist, undefined if it cannot be read. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : undefined;
  }
}
