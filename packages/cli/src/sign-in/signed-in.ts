/** Reads which servers the user is signed in to, for lists of servers. */

import type { SignInState } from "@fairlead/core/auth";
import type { Configuration } from "@fairlead/core/trust";

/** Returns the sign-in states by server name. Leaves out a server whose state cannot be read. */
export async function signedIn(configuration: Configuration): Promise<ReadonlyMap<string, SignInState>> {
  const definitions = configuration.servers.flatMap(({ server: { definition }, admission }) =>
    definition !== undefined && definition.transport.kind !== "stdio" && admission.status === "admitted"
      ? definition
      : [],
  );
  if (definitions.length === 0) return new Map();
  const { signInReader } = await import("./read-state.ts");
  const read = signInReader(configuration);
  const states = await Promise.all(
    definitions.map(async (definition) => [definition.name, await read(definition).catch(() => undefined)] as const),
  );
  return new Map(states.flatMap(([name, state]) => (state?.state === "signed_in" ? [[name, state] as const] : [])));
}
