/**
 * Gets and renews a server's tokens with this machine's own credentials. All requests and processes share the tokens.
 */

import type { AuthHook } from "@fairlead/wire";
import { type Clock, systemClock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import { createBoundedFetch, type Fetch } from "../../net/bounded-fetch.ts";
import { createServerNetwork } from "../../net/server-network.ts";
import type { MachineAuthSettings, ServerDefinition } from "../../settings/define/definition.ts";
import { expandMachineAuth } from "../../settings/define/expand.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { toShellWord } from "../../text/shell-word.ts";
import { createAuthHook, type SignInRequest } from "../auth-hook.ts";
import { includesAll, scopesIn } from "../oauth/challenge.ts";
import { discoverSignIn, type SignInPlan, wantedScopes } from "../oauth/discovery.ts";
import { createDpopProofs, type DpopProofs, newDpopKey } from "../oauth/dpop.ts";
import { createFail } from "../oauth/failure.ts";
import { methodWithSecret } from "../oauth/metadata.ts";
import { createKeeper, type TokenKeeper } from "../oauth/token-keeper.ts";
import type { Credentials } from "../store/credentials.ts";
import { createSignInLock, isBusy } from "../store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";

/** One finished step of a machine's token request, for `mcp test`. It contains no secrets. */
export interface MachineStep {
  readonly action: "discovery" | "assertion" | "token exchange" | "token request";
  /** What happened in the step, as a text for the user. */
  readonly detail: string;
}

/** Called after each step of a token request. */
export type MachineObserver = (step: MachineStep) => void;

/** The server, its `machineAuth` settings, and where the tokens are stored. */
export interface MachineAuthOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Returns the `machineAuth` settings, with variables and secrets expanded. Called for every token request. */
  readonly settings: () => Promise<MachineAuthSettings>;
  readonly issuerOverride?: string | undefined;
  /** The stored tokens of this server definition. */
  readonly storage: MCPOAuthTokenStorage;
  readonly lockFolder: string;
  readonly env: Environment["env"];
  /** Returns a `fetch` that may also reach the private network of `url`. `address` is the server's IP address. */
  readonly fetchNear: (url: string, more?: { readonly address?: string; readonly maxRedirects?: number }) => Fetch;
  readonly clock: Clock;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
  readonly observe: MachineObserver;
}

/** The tokens of one server that needs no person to sign in. */
export interface MachineTokens {
  readonly keeper: TokenKeeper;
  /** Finds the authorization server and requests a token. Also used to get additional scopes. */
  readonly signIn: (request: SignInRequest, signal: AbortSignal) => Promise<Credentials>;
}

/** Creates the functions that get and renew the tokens of one server. */
export function createMachineAuth(options: MachineAuthOptions): MachineTokens {
  const { serverName, serverUrl, storage, lockFolder, env, fetchNear, now, observe } = options;
  const lock = createSignInLock(lockFolder);
  /** One for each key, because a `DpopProofs` keeps the nonces that servers have sent. */
  const proofs = new Map<string, DpopProofs>();

  async function request(target: Credentials, settings: MachineAuthSettings): Promise<Credentials> {
    const { dpopKey } = target;
    if (dpopKey !== undefined && !proofs.has(dpopKey)) proofs.set(dpopKey, createDpopProofs(dpopKey));
    const dpop = dpopKey === undefined ? undefined : proofs.get(dpopKey);
    // The endpoint may be in a private network: in its own if the settings name it, otherwise in the server's.
    const post = fetchNear(settings.tokenUrl ?? serverUrl, { maxRedirects: 0 });
    const near = (url: string): Fetch => fetchNear(url, { maxRedirects: 0 });
    const { requestMachineToken } = await import("./machine-token.ts");
    const tokens = await requestMachineToken({ settings, target, env, post, fetchNear: near, dpop, now, observe });
    const credentials = { ...target, tokens };
    await storage.saveCredentials(credentials);
    return credentials;
  }

  async function discover({ challenge, address, before }: SignInRequest): Promise<Credentials> {
    const settings = await options.settings();
    const { issuer, tokenUrl, scopes } = settings;
    const stored = await storage.getCredentials(serverUrl);
    const fail = createFail(serverName, `fairlead mcp test ${toShellWord(serverName)}`);
    const plan = await discoverSignIn({
      serverUrl,
      challenge,
      oauth: { issuer, tokenUrl },
      isMachine: true,
      issuerOverride: options.issuerOverride,
      fetch: fetchNear(serverUrl, { address }),
      fail,
    });
    observe({ action: "discovery", detail: `authorization server ${plan.server.issuer}, for ${plan.resource}` });
    /*
     * If the settings name no issuer, the authorization server must be the same as before. Otherwise a new one could
     * get the client's secret.
     */
    if (stored !== undefined && issuer === undefined && stored.issuer !== plan.server.issuer)
      throw new HostError(
        "auth_failed",
        `"${serverName}" now names another authorization server: ${plan.server.issuer} instead of ${stored.issuer}`,
        {
          serverName,
          next: `If ${plan.server.issuer} is right, set it as "issuer" under machineAuth of "${serverName}".`,
        },
      );
    const dpopKey = plan.isDpop ? (stored?.dpopKey ?? newDpopKey()) : undefined;
    // No `offline_access`, because a machine needs no refresh token.
    const wanted = wantedScopes({ scopes: plan.scopes, chosen: scopes, before });
    const target = targetOf(plan, settings, { serverName, serverUrl, scopes: wanted });
    return request({ ...target, dpopKey }, settings);
  }

  return {
    keeper: createKeeper(
      {
        canRenew: () => true,
        async renew(_name, credentials) {
          try {
            return { kind: "done", credentials: await request(credentials, await options.settings()) };
          } catch (error) {
            if (error instanceof HostError) return { kind: "failed", error };
            throw error;
          }
        },
      },
      options,
    ),
    async signIn(asked) {
      const name = await storage.nameOf(serverUrl);
      const work = async (): Promise<Credentials> => {
        const stored = await storage.getCredentials(serverUrl);
        return stored !== undefined && isEnough(stored, asked, now()) ? stored : discover(asked);
      };
      return lock(name, work).catch((error: unknown) => {
        throw isBusy(error) ? stillBusy(serverName, error) : error;
      });
    },
  };
}

function stillBusy(serverName: string, cause: unknown): HostError {
  const message = `token request for "${serverName}" timed out: another process still waits for the authorization server`;
  return new HostError("unreachable", message, { serverName, next: "Try again later.", cause });
}

/** Another process may have renewed the token. Then no new token is needed. */
function isEnough({ tokens, scopes = [] }: Credentials, { before, challenge }: SignInRequest, now: number): boolean {
  if (tokens === undefined || (tokens.expiresAt ?? now + 1) <= now) return false;
  return before === undefined || (!includesAll(before, scopes) && includesAll(scopes, scopesIn(challenge.scope)));
}

function targetOf(
  { server, isIssuerKnown, resource }: SignInPlan,
  { clientId = "none", clientSecret, clientAuthentication }: MachineAuthSettings,
  about: Pick<Credentials, "serverName" | "serverUrl" | "scopes">,
): Credentials {
  const { issuer, token_endpoint: token, token_endpoint_auth_signing_alg_values_supported: signingAlgorithms } = server;
  const authentication = clientSecret === undefined ? "none" : (clientAuthentication ?? methodWithSecret(server));
  // Without an issuer, the token endpoint's URL identifies the authorization server (RFC 7523 §3).
  const assertionAudience = isIssuerKnown ? issuer : token;
  return {
    ...about,
    resource,
    issuer,
    // The secret is not stored, because every token request reads it from the settings.
    client: { clientId, authentication },
    endpoints: { token },
    machine: { assertionAudience, signingAlgorithms },
  };
}

/** What a server with `machineAuth` needs besides its definition. */
interface MachineHookOptions
  extends Pick<MachineAuthOptions, "serverUrl" | "storage" | "lockFolder" | "env" | "observe"> {
  readonly secret: (name: string) => Promise<string | undefined>;
  readonly hasCredentials: () => Promise<boolean>;
}

/** Creates the hook that adds this machine's token to the server's requests, and renews it. */
export function createMachineHook(definition: ServerDefinition, options: MachineHookOptions): AuthHook {
  const { serverUrl, secret, hasCredentials, env } = options;
  const { name: serverName, extras } = definition;
  const fetches = new Map<string, Fetch>();
  const { keeper, signIn } = createMachineAuth({
    ...options,
    serverName,
    issuerOverride: extras.issuerOverride,
    settings: async () => (await expandMachineAuth(definition, secret)) ?? { kind: "client_credentials" },
    fetchNear(url, { address, ...more } = {}) {
      const key = JSON.stringify([url, address, more]);
      // A `fetch` looks up the IP addresses of its server only once, so each server has its own.
      const near = createServerNetwork(url, { addresses: address === undefined ? undefined : [address] });
      const fetch = fetches.get(key) ?? createBoundedFetch({ near, env, ...more });
      fetches.set(key, fetch);
      return fetch;
    },
    clock: systemClock,
    now: Date.now,
    random: Math.random,
  });
  return createAuthHook({ serverName, serverUrl, hasCredentials, keeper: async () => keeper, signIn, isMachine: true });
}
