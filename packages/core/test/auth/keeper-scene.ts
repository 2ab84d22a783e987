/** A sign-in that was made, and a keeper of its tokens, for one test: the authorization server is real, the time is not. */

import { type AuthorizationServer, authorizationServer, temporaryFolder } from "@fairlead/test-servers";
import { createTokenKeeper } from "../../src/auth/oauth/refresh.ts";
import type { TokenKeeper } from "../../src/auth/oauth/token-keeper.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../../src/auth/store/token-storage.ts";
import { createBoundedFetch } from "../../src/net/bounded-fetch.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { signInByHand } from "./sign-in-by-hand.ts";

export const url = "http://127.0.0.1:9/mcp";

export interface Scene extends AsyncDisposable {
  readonly server: AuthorizationServer;
  readonly storage: MCPOAuthTokenStorage;
  readonly keeper: TokenKeeper;
  readonly clock: ManualClock;
  /** What the first sign-in gave. */
  readonly first: Credentials;
  readonly firstToken: string;
  /** Another process on the same folder. */
  readonly another: () => { readonly storage: MCPOAuthTokenStorage; readonly keeper: TokenKeeper };
  readonly refreshes: () => number;
}

export async function signedIn(settings: Parameters<typeof authorizationServer>[0] = {}): Promise<Scene> {
  const folder = await temporaryFolder();
  const server = await authorizationServer(settings);
  const clock = manualClock();
  const begin = Date.now();
  const another = () => {
    const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
    const keeper = createTokenKeeper({
      storage,
      lockFolder: signInFolder(folder.path),
      fetchFor: (near) => createBoundedFetch({ near, env: {}, maxRedirects: 0 }),
      clock,
      now: () => begin + clock.now(),
      random: () => 0.5,
    });
    return { storage, keeper };
  };
  const first = await signInByHand(server, url);
  const here = another();
  await here.storage.saveCredentials(first);
  return {
    ...here,
    server,
    clock,
    first,
    firstToken: first.tokens?.accessToken ?? "",
    another,
    refreshes: () => server.callsTo("token", "refresh_token").length,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function tokenOf(credentials: Credentials | undefined): string | undefined {
  return credentials?.tokens?.accessToken;
}
