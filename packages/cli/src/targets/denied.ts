/** Tells which requests need no server, because a rule denies them by name. */

import type { Host } from "@fairlead/core/host";

type DeniableKind = "tool" | "resource" | "prompt";

/**
 * Whether a rule denies the user's request whatever the server lists. Fairlead then refuses it without starting the
 * server.
 */
export async function isDeniedByName(server: string, name: string, kind: DeniableKind, host: Host): Promise<boolean> {
  const state = host.states().find(({ name: each }) => each === server);
  // A server that is not allowed to start has its own reason.
  if (state === undefined || state.status === "blocked" || state.status === "disabled") return false;
  return (await host.explain(server, name, undefined, { kind, typed: true })).isDeniedByName;
}
