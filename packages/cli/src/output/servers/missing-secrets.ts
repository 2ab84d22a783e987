/** Finds secrets that settings refer to and that are not stored. Reads names only, so no keychain is opened. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Context } from "../../shell/verb.ts";

type Missing = ReadonlySet<string>;

export async function missingSecrets(
  { servers, locations }: Pick<Configuration, "servers" | "locations">,
  { out }: Pick<Context, "out">,
): Promise<Missing> {
  const mentioned = new Set(servers.flatMap(({ server }) => server.definition?.secrets ?? []));
  if (mentioned.size === 0) return mentioned;
  try {
    const stored = await storedNames(locations.state);
    return new Set([...mentioned].filter((name) => !stored.has(name)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    out.warnOnce(safe`warning: ${toSafeLine(error.message)}`);
    return new Set();
  }
}

/** One line for each missing secret of a server: the server may start, and then fails. */
export function missingSecretLines(secrets: readonly string[], missing: Missing): SafeText[] {
  return secrets
    .filter((name) => missing.has(name))
    .map(toSafeLine)
    .map((name) => safe`the secret ${name} is not stored: fairlead secret set ${name}`);
}

async function storedNames(state: string): Promise<ReadonlySet<string>> {
  const [{ openSecretFile }, { readKeychainNames }] = await Promise.all([
    import("@fairlead/core/files/secrets/secret-file"),
    import("@fairlead/core/files/secrets/keychain-store"),
  ]);
  return new Set([...(await openSecretFile(state).list()), ...(await readKeychainNames(state))]);
}
