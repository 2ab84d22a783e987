/** Connects to servers without a cached catalog, so that a client's first list contains their tools. */

import type { Clock } from "@fairlead/core/clock";
import type { Server } from "@fairlead/core/server";
import type { Era } from "@fairlead/wire";
import type { SignInPort } from "../questions/sign-in-request.ts";
import type { ClientWorkspace } from "../workspaces.ts";

/** A list request waits at most this many milliseconds. */
const waitTime = 2000;

/**
 * Starts servers without a catalog for this client, except those that failed recently. Resolves when all of them have connected
 * or failed, or after two seconds. Servers that connect later cause `list_changed`.
 *
 * @param tried Servers that were already started for this client. They are not started again. A server that the settings
 * define in another way since is another `Server`.
 */
export async function discoverUnknown(
  names: readonly string[],
  { workspace, clock, era, tried, signIns }: FirstDiscoveryOptions,
): Promise<void> {
  const { host, firstStarts } = workspace;
  const servers = names.flatMap((name) => host.gateway.servers.find(name) ?? []);
  const isLacking = (server: Server): boolean => server.catalog === undefined || workspace.lacksCatalogOf(server);
  const signedIn = await newlySignedIn(servers.filter(isLacking), { workspace, signIns });
  const candidates = servers.filter((server) => (!tried.has(server) && isLacking(server)) || signedIn.has(server));
  if (candidates.length === 0) return;
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const now = clock.now();

  function isAwaited(server: Server): boolean {
    const { status } = server.state;
    if (signedIn.has(server)) return true;
    if (workspace.lacksCatalogOf(server))
      return status !== "disabled" && status !== "blocked" && !failed.has(server.name);
    // A connected server without a catalog is still listing its tools. Earlier requests may have waited long enough.
    if (status === "connecting" || status === "connected") return now - (firstStarts.get(server) ?? now) < waitTime;
    return status === "disconnected" && !failed.has(server.name);
  }

  const unknown = candidates.filter(isAwaited);
  if (unknown.length === 0) return;
  for (const server of unknown) {
    tried.add(server);
    if (server.state.status === "disconnected" || !firstStarts.has(server)) firstStarts.set(server, now);
  }
  const starts = unknown.map(async (server) => {
    if (server.shareOf() === "all" && !workspace.lacksCatalogOf(server)) return host.start({ servers: [server.name] });
    const own = await workspace.connectionOf(server.name, era);
    await own.startForClient();
  });
  await new Promise<void>((resolve) => {
    const callOff = clock.after(waitTime, resolve, { background: true });
    void Promise.allSettled(starts).then(() => {
      callOff();
      resolve();
    });
  });
}

/** The client's workspace and protocol era. `tried` is updated. */
export interface FirstDiscoveryOptions {
  readonly workspace: ClientWorkspace;
  readonly clock: Clock;
  readonly era: Era;
  readonly tried: WeakSet<Server>;
  /** How the users of a team sign in. */
  readonly signIns?: SignInPort | undefined;
}

/** The servers that refused to connect without a sign-in, at which the user is signed in now. */
async function newlySignedIn(
  servers: readonly Server[],
  { workspace, signIns }: Pick<FirstDiscoveryOptions, "workspace" | "signIns">,
): Promise<ReadonlySet<Server>> {
  const { principal } = workspace;
  if (signIns === undefined || principal === undefined) return new Set();
  const refusing = servers.filter((server) => workspace.needsSignIn(server));
  // If the sign-ins cannot be read, the servers stay as they are.
  const isSignedIn = await Promise.all(
    refusing.map(({ name }) => signIns.isSignedIn(principal, name).catch(() => false)),
  );
  return new Set(refusing.filter((_, index) => isSignedIn[index]));
}
