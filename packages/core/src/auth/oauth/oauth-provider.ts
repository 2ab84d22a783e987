import { type Clock, systemClock } from "../../clock.ts";
import type { Fetch, FetchOptions } from "../../net/bounded-fetch.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInUi } from "../browser/sign-in-ui.ts";
import type { Credentials } from "../store/credentials.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import type { BearerChallenge } from "./challenge.ts";
import type { TokenKeeper } from "./token-keeper.ts";

/** Options of `MCPOAuthProvider`: where tokens are stored, and how the network is reached. */
export interface MCPOAuthProviderOptions {
  readonly storage: MCPOAuthTokenStorage;
  /** Folder of the lock files, which all processes share. */
  readonly lockFolder: string;
  /** The environment variables, which may name proxies. */
  readonly env: FetchOptions["env"];
  /** The setting `fairlead.clientMetadataUrl`. */
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
  /** Digest of the server definition (`pinOf`). Definitions with different digests have separate sign-ins. */
  readonly pin?: string | undefined;
  /** Whether the definition comes from the workspace, not from the user's settings. */
  readonly isFromWorkspace?: boolean;
  /** The challenge of the refused request. If absent, Fairlead looks for metadata at the well-known addresses. */
  readonly challenge?: BearerChallenge;
  /** The IP address of the server that refused the request. Default: Fairlead resolves the server's host name again. */
  readonly address?: string;
  /** Scopes that an earlier sign-in requested or got. The server says that these scopes are not enough. */
  readonly before?: readonly string[] | undefined;
}

/**
 * Signs in to MCP servers with OAuth and gives out access tokens that are still valid, refreshing them when needed. For
 * programs that sign in to servers without `createHost`.
 *
 * @throws HostError `auth_required`, `auth_failed` or `cancelled` if a method fails
 */
export class MCPOAuthProvider {
  readonly #options: MCPOAuthProviderOptions;
  readonly #keepers = new Map<string | undefined, Promise<TokenKeeper>>();

  constructor(options: MCPOAuthProviderOptions) {
    this.#options = options;
  }

  /** Lets the person sign in, and stores the tokens. */
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

  /** Whether the settings or the metadata of the server name an authorization server. Sends requests to the server. */
  async offersSignIn(server: SignInServer): Promise<boolean> {
    const [{ discoverSignIn }, { createFail }] = await Promise.all([import("./discovery.ts"), import("./failure.ts")]);
    const { serverName, oauth = {}, challenge = {} } = server;
    const [fetch, fail] = [await this.#fetch(server), createFail(serverName)];
    return !(await discoverSignIn({ ...server, oauth, challenge, fetch, fail })).isGuess;
  }

  /** The access token, refreshed first if it expires soon. Undefined if the person has not signed in. */
  async getValidToken(serverUrl: string, pin?: string): Promise<string | undefined> {
    const credentials = await (await this.keeper(pin)).current(serverUrl);
    return credentials?.tokens?.accessToken;
  }

  /** The object that renews the tokens for server definitions with this `pinOf` digest. */
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
    // Each server has its own `fetch`, because a `fetch` looks up the IP addresses of its server only once.
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
