/** Reads sign-in states from the token store. */

import { type SignInState, signInStateOf } from "@fairlead/core/auth/store/sign-in-state";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import type { Configuration } from "@fairlead/core/trust/configuration";

export type ReadSignIn = (definition: ServerDefinition) => Promise<SignInState>;

export function signInReader({ locations, environment, settings }: Configuration): ReadSignIn {
  const { env, platform } = environment;
  const storage = openTokenStorage({ state: locations.state, env, platform });
  const secret = readSecret({ locations, environment });
  const { googleHosts } = settings.host;
  const facts = { folder: locations.state, storage, secret, googleHosts, now: Date.now };
  return (definition) => signInStateOf(definition, facts);
}

export function readSecret({
  locations,
  environment: { env, platform },
}: Pick<Configuration, "locations" | "environment">): (name: string) => Promise<string | undefined> {
  return async (name) => (await openSecretStore({ directory: locations.state, env, platform })).get(name);
}
