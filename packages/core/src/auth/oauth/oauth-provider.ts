/** Signing in to MCP servers, for programs that want it without a host: who signs in, and which token is good now. */

import { type Clock, systemClock } from "../../clock.ts";
import type { Fetch, FetchOptions } from "../../net/bounded-fetch.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInUi } from "../browser/sign-in-ui.ts";
import type { Credentials } from "../store/credentials.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import type { BearerChallenge } from "./challenge.ts";
import type { TokenKeeper } from "./refresh.ts";

/** Options of `MCPOAuthProvider`: where tokens are stored, and how the network is reached. */
export interface MCPOAuthProviderOptions {
  readonly storage: MCPOAuthTokenStorage;
  /** For locks between processes. */
  readonly lockFolder: string;
  /** For proxies. */
  readonly env: FetchOptions["env"];
  /** `fairlead.clientMetadataUrl`. */
  readonly clientMetadataUrl?: string | undefined;
  readonly clock?: Clock;
  /** The wall clock, in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
  /** @deprecated The new name is `now`. */
  readonly today?: () => number;
  readonly random?: () => number;
}

/** The server to sign in to, with the OAuth settings of its entry. */
export interface SignInServer {
  readonly serverName: string;
  readonly serverUrl: string;
  readonly oauth?: OAuthSettings;
  readonly issuerOverride?: string | undefined;
  /** Of the entry (`pinOf`): its sign-in is its own. */
  readonly pin?: string | undefined;
  /** The entry came with a folder, and not from the person. */
  readonly isFromWorkspace?: boolean;
  /** From the refusal that asks for it; without one, the well-known places are looked at. */
  readonly challenge?: BearerChallenge;
  /** Where the server was reached when it refused; without it, what its name means now. */
  readonly address?: string;
  readonly before?: readonly string[] | undefined;
}

/**
 * Signs in to MCP servers with OAuth and gives out access tokens that are still valid, refreshing them when needed. For
 * programs that want sign-in without a host.
 *
 * @throws HostError `auth_required`, `auth_failed` or `cancelled`, from its methods
 */
export class MCPOAuthProvider {
  readonly #options: MCPOAuthProviderOptions;
  readonly #keepers = new Map<string | undefined, Promise<TokenKeeper>>();

  constructor(options: MCPOAuthProviderOptions) {
    this.#options = options;
  }

  /** Lets the person sign in, and stores what comes of it. */
  async authenticate(server: SignInServer, ui: SignInUi, signal?: AbortSignal): Promise<Credentials> {
    const { lockFolder, clientMetadataUrl, clock = systemClock, now = this.#options.today ?? Date.now } = this.#options;
    const [{ signIn }, { createSignInLock }] = await Promise.all([
      import("../sign-in.ts"),
      import("../store/sign-in-lock.ts"),
    ]);
    const { oauth = {}, challenge = {}, pin } = server;
    const storage = this.#options.storage.pinned(pin);
    const fetch = await this.#fetch(server);
    const post = await this.#fetch(server, { maxRedirects: 0 });
    const lock = createSignInLock(lockFolder);
    const options = { ...server, oauth, challenge, ui, storage, lock, fetch, post, clock, now, clientMetadataUrl };
    return signIn(options, signal ?? new AbortController().signal);
  }

  /** Whether the server, or its settings, say where to sign in; asked of the server where it did not refuse anything. */
  async offersSignIn(server: SignInServer): Promise<boolean> {
    const [{ discoverSignIn }, { createFail }] = await Promise.all([import("./discovery.ts"), import("./failure.ts")]);
    const { serverName, oauth = {}, challenge = {} } = server;
    const [fetch, fail] = [await this.#fetch(server), createFail(serverName)];
    return !(await discoverSignIn({ ...server, oauth, challenge, fetch, fail })).isGuess;
  }

  /** Undefined: nobody has signed in. One that ends soon is renewed first. */
  async getValidToken(serverUrl: string, pin?: string): Promise<string | undefined> {
    const credentials = await (await this.keeper(pin)).current(serverUrl);
    return credentials?.tokens?.accessToken;
  }

  /** For entries with that pin. */
  keeper(pin?: string): Promise<TokenKeeper> {
    const keeper = this.#keepers.get(pin) ?? this.#openKeeper(pin);
    this.#keepers.set(pin, keeper);
    return keeper;
  }

  async #openKeeper(pin: string | undefined): Promise<TokenKeeper> {
    const {
      lockFolder,
      clock = systemClock,
      now = this.#options.today ?? Date.now,
      random = Math.random,
    } = this.#options;
    const [{ createTokenKeeper }, { createBoundedFetch }] = await Promise.all([
      import("./refresh.ts"),
      import("../../net/bounded-fetch.ts"),
    ]);
    const { env } = this.#options;
    const storage = this.#options.storage.pinned(pin);
    const fetches = new Map<string, Fetch>();
    // One for each server, so that where it is stays what it was found to be first.
    const fetchFor = (near: string): Fetch => {
      const fetch = fetches.get(near) ?? createBoundedFetch({ near, env, maxRedirects: 0 });
      fetches.set(near, fetch);
      return fetch;
    };
    return createTokenKeeper({ storage, lockFolder, fetchFor, clock, now, random });
  }

  async #fetch({ serverUrl, address }: SignInServer, more: Pick<FetchOptions, "maxRedirects"> = {}): Promise<Fetch> {
    const [{ createBoundedFetch }, { createServerNetwork }] = await Promise.all([
      import("../../net/bounded-fetch.ts"),
      import("../../net/server-network.ts"),
    ]);
    const near = createServerNetwork(serverUrl, { addresses: address === undefined ? undefined : [address] });
    return createBoundedFetch({ near, env: this.#options.env, ...more });
  }
}
