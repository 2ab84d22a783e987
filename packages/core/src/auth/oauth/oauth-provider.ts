/** Signs in to MCP servers with OAuth. Used by `createHost`, and by programs without a host. */

import { type Clock, systemClock } from "../../clock.ts";
import {
  aFunction,
  aName,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  withMethod,
} from "../../expect-arguments.ts";
import { createBoundedFetch, type Fetch, type FetchOptions } from "../../net/bounded-fetch.ts";
import { createServerNetwork } from "../../net/server-network.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInUi } from "../browser/sign-in-ui.ts";
import type { Credentials } from "../store/credentials.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import type { BearerChallenge } from "./challenge.ts";
import type { TokenKeeper } from "./token-keeper.ts";

/** Where tokens are stored, and how to reach the network. */
export interface MCPOAuthProviderOptions {
  readonly storage: MCPOAuthTokenStorage;
  /** The folder for lock files. All processes must use the same folder. */
  readonly lockFolder: string;
  /** The environment variables. They may name a proxy. */
  readonly env: FetchOptions["env"];
  /** The setting `fairlead.clientMetadataUrl`. */
  readonly clientMetadataUrl?: string | undefined;
  readonly clock?: Clock;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** The server to sign in to, and its OAuth settings. */
export interface SignInServer {
  readonly serverName: string;
  readonly serverUrl: string;
  readonly oauth?: OAuthSettings;
  readonly issuerOverride?: string | undefined;
  /** A digest of the server definition, from `pinOf`. Definitions with different digests have separate sign-ins. */
  readonly pin?: string | undefined;
  /** True if the definition comes from the workspace and not from the user's settings. */
  readonly isFromWorkspace?: boolean;
  /** What the server's 401 response asked for. Undefined: Fairlead looks for metadata at the well-known addresses. */
  readonly challenge?: BearerChallenge;
  /** The server's IP address. Undefined: Fairlead looks up the host name again. */
  readonly address?: string;
  /** The scopes of an earlier sign-in. The server says that they are not enough. */
  readonly before?: readonly string[] | undefined;
}

const wantedOptions = {
  storage: withMethod("pinned"),
  lockFolder: aName,
  env: anObject,
  clientMetadataUrl: optional(aString),
  clock: optional(withMethod("after")),
  now: optional(aFunction),
  random: optional(aFunction),
};

/** @throws HostError `usage` */
function expectServer(call: string, server: SignInServer): void {
  expectArguments(call, { server: [server, anObject] });
  const wanted = { serverName: aString, serverUrl: aString, oauth: optional(anObject), pin: optional(aString) };
  readMembers(call, server, wanted, "server.");
}

/**
 * Signs in to MCP servers with OAuth, and returns valid access tokens.
 *
 * @throws HostError `auth_required`, `auth_failed` or `cancelled` if a method fails
 */
export class MCPOAuthProvider {
  readonly #options: MCPOAuthProviderOptions;
  readonly #keepers = new Map<string | undefined, Promise<TokenKeeper>>();

  constructor(options: MCPOAuthProviderOptions) {
    expectArguments("new MCPOAuthProvider()", { options: [options, anObject] });
    this.#options = readMembers("new MCPOAuthProvider()", options, wantedOptions, "options.");
  }

  /** Lets the person sign in, and stores the tokens. */
  async authenticate(server: SignInServer, ui: SignInUi, given?: AbortSignal): Promise<Credentials> {
    const call = "authenticate()";
    expectServer(call, server);
    expectArguments(call, { ui: [ui, anObject], signal: [given, optional(aSignal)] });
    const { lockFolder, clientMetadataUrl, clock = systemClock, now = Date.now } = this.#options;
    const [{ signIn }, { createSignInLock }] = await Promise.all([
      import("../sign-in.ts"),
      import("../store/sign-in-lock.ts"),
    ]);
    const { oauth = {}, challenge = {}, pin } = server;
    const storage = this.#options.storage.pinned(pin);
    const { signal } = given === undefined ? new AbortController() : { signal: given };
    const fetch = this.#fetch(server, { signal });
    const post = this.#fetch(server, { signal, maxRedirects: 0 });
    const lock = createSignInLock(lockFolder);
    const options = { ...server, oauth, challenge, ui, storage, lock, fetch, post, clock, now, clientMetadataUrl };
    return signIn(options, signal);
  }

  /** Whether the settings name an authorization server, or the server has OAuth metadata. Sends requests. */
  async offersSignIn(server: SignInServer): Promise<boolean> {
    expectServer("offersSignIn()", server);
    const [{ discoverSignIn }, { createFail }] = await Promise.all([import("./discovery.ts"), import("./failure.ts")]);
    const { serverName, oauth = {}, challenge = {} } = server;
    const [fetch, fail] = [this.#fetch(server), createFail(serverName)];
    return !(await discoverSignIn({ ...server, oauth, challenge, fetch, fail })).isGuess;
  }

  /** Returns the access token. Refreshes it first if it expires soon. Undefined if the person has not signed in. */
  async getValidToken(serverUrl: string, pin?: string): Promise<string | undefined> {
    expectArguments("getValidToken()", { serverUrl: [serverUrl, aString], pin: [pin, optional(aString)] });
    const credentials = await (await this.keeper(pin)).current(serverUrl);
    return credentials?.tokens?.accessToken;
  }

  /** Returns the object that renews the tokens of server definitions with this digest. */
  keeper(pin?: string): Promise<TokenKeeper> {
    const keeper = this.#keepers.get(pin) ?? this.#openKeeper(pin);
    this.#keepers.set(pin, keeper);
    return keeper;
  }

  async #openKeeper(pin: string | undefined): Promise<TokenKeeper> {
    const { lockFolder, clock = systemClock, now = Date.now, random = Math.random } = this.#options;
    const { createTokenKeeper } = await import("./refresh.ts");
    const { env } = this.#options;
    const storage = this.#options.storage.pinned(pin);
    const fetches = new Map<string, Fetch>();
    // A `fetch` looks up the IP addresses of its server only once, so each server has its own.
    const fetchFor = (near: string): Fetch => {
      const fetch = fetches.get(near) ?? createBoundedFetch({ near, env, maxRedirects: 0 });
      fetches.set(near, fetch);
      return fetch;
    };
    return createTokenKeeper({ storage, lockFolder, fetchFor, clock, now, random });
  }

  #fetch({ serverUrl, address }: SignInServer, more: Pick<FetchOptions, "maxRedirects" | "signal"> = {}): Fetch {
    const near = createServerNetwork(serverUrl, { addresses: address === undefined ? undefined : [address] });
    return createBoundedFetch({ near, env: this.#options.env, ...more });
  }
}
