/** Reads sign-in states from the token store. */

import { type SignInState, signInStateOf } from "@fairlead/core/auth/store/sign-in-state";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import type { Configuration } from "@fairlead/core/trust/configuration";

/** Returns the sign-in state of one server. Does not connect to the server. */
export type ReadSignIn = (definition: ServerDefinition) => Promise<SignInState>;

/** Opens the token store and returns a function that reads sign-in states from it. */
export function signInReader({ locations, environment, settings }: Configuration): ReadSignIn {
  const { env, platform } = environment;
  const storage = openTokenStorage({ state: locations.state, env, platform });
  const secret = readSecret({ locations, environment });
  const { googleHosts } = settings.host;
  const facts = { folder: locations.state, storage, secret, googleHosts, now: Date.now };
  return (definition) => signInStateOf(definition, facts);
}

/** Returns a function that reads a secret by name. The function returns undefined for an unknown name. */
export function readSecret({
  locations,
  environment: { env, platform },
}: Pick<Configuration, "locations" | "environment">): (name: string) => Promise<string | undefined> {
  return async (name) => (await openSecretStore({ directory: locations.state, env, platform })).get(name);
}
