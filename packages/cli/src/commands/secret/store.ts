/** Opens the secret store for the `fairlead secret` commands. */

import { HostError } from "@fairlead/core/errors";
import { openSecretStore, type SecretStore } from "@fairlead/core/files/secrets/secret-store";
import { locate } from "@fairlead/core/settings/read/paths";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import { configurationOptions } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";

export async function openStore(context: Context): Promise<SecretStore> {
  const { state } = await locate(configurationOptions(context));
  const { env, platform } = context.io;
  return openSecretStore({ directory: state, env, platform });
}

/** Returns a name that can be written as `${secret:NAME}`. @throws HostError `usage` */
export function checkedName(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name)) return name;
  throw new HostError("usage", `"${name}" is not a valid secret name: use letters, digits, "_", "." and "-"`, {
    next: "fairlead secret set GITHUB_TOKEN",
  });
}

export function storeName(backend: SecretStore["backend"]): SafeText {
  return backend === "keychain" ? safe`the system's keychain` : safe`an encrypted file in Fairlead's own folder`;
}
