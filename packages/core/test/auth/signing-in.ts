/** One sign-in to a guarded server, from its refusal on, for one test. */

import type { TemporaryFolder } from "@fairlead/test-servers";
import { readChallenge } from "../../src/auth/oauth/challenge.ts";
import {
  MCPOAuthProvider,
  type MCPOAuthProviderOptions,
  type SignInServer,
} from "../../src/auth/oauth/oauth-provider.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../../src/auth/store/token-storage.ts";
import type { Person } from "./person.ts";

export interface SigningIn
  extends Partial<Pick<SignInServer, "oauth" | "issuerOverride" | "before" | "isFromWorkspace" | "pin">>,
    Partial<Pick<MCPOAuthProviderOptions, "clock" | "now" | "clientMetadataUrl">> {
  readonly signal?: AbortSignal;
}

export async function signingIn(
  serverUrl: string,
  { ui }: Pick<Person, "ui">,
  folder: TemporaryFolder,
  { clock, now, clientMetadataUrl, signal, ...server }: SigningIn = {},
): Promise<Credentials> {
  const refusal = await fetch(serverUrl, { method: "POST", body: "{}" });
  const challenge = readChallenge(refusal.headers.get("www-authenticate") ?? undefined);
  const provider = new MCPOAuthProvider({
    storage: storageIn(folder),
    lockFolder: signInFolder(folder.path),
    env: {},
    clientMetadataUrl,
    ...(clock && { clock }),
    ...(now && { now }),
  });
  return provider.authenticate({ serverName: "docs", serverUrl, challenge, ...server }, ui, signal);
}

export function storageIn({ path: state }: TemporaryFolder): MCPOAuthTokenStorage {
  return openTokenStorage({ state, env: { FAIRLEAD_SECRET_STORE: "file" }, platform: process.platform });
}
