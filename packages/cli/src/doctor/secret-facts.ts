/** Opens the secret store and reads the names of secrets, never their values. */

import { HostError } from "@fairlead/core/errors";
import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import { explain } from "@fairlead/core/files/system-error";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { SecretFacts } from "./check-secrets.ts";

export async function readSecretFacts({
  environment: { env, platform },
  locations,
  servers,
}: Pick<Configuration, "environment" | "locations" | "servers">): Promise<SecretFacts> {
  try {
    const store = await openSecretStore({ directory: locations.state, env, platform });
    return { servers, store: { backend: store.backend, names: new Set(await store.list()) } };
  } catch (cause) {
    const error = cause instanceof HostError ? cause : new HostError("internal", explain(cause), { cause });
    return { servers, store: { error } };
  }
}
