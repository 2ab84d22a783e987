/** Connects to servers without a cached catalog, so that a client's first list contains their tools. */

import type { Clock } from "@fairlead/core/clock";
import type { Era } from "@fairlead/wire";
import type { ClientHosts } from "../hosts/client-hosts.ts";

/** A list request waits at most this many milliseconds. */
const waitTime = 2000;

/**
 * Starts servers without a cached catalog, except those that failed recently. Resolves when all of them have connected
 * or failed, or after two seconds. Servers that connect later cause `list_changed`.
 *
 * @param tried Servers that were already started for this client. They are not started again, unless the settings define
 * them in another way since.
 */
export async function discoverUnknown(
  servers: readonly string[],
  { hosts, clock, era, tried }: FirstDiscoveryOptions,
): Promise<void> {
  const { host, firstStarts } = hosts.shared;
  const definitionOf = (server: string): string => JSON.stringify([server, host.identify(server)?.fingerprint]);
  const candidates = servers.filter((server) => host.catalog(server) === undefined && !tried.has(definitionOf(server)));
  if (candidates.length === 0) return;
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const now = clock.now();
  const states = new Map(host.states().map(({ name, status }) => [name, status]));

  function isAwaited(server: string): boolean {
    const status = states.get(server);
    // A connected server without a catalog is still listing its tools. Earlier requests may have waited long enough.
    if (status === "connecting" || status === "connected") return now - (firstStarts.get(server) ?? now) < waitTime;
    return status === "disconnected" && !failed.has(server);
  }

  const unknown = candidates.filter(isAwaited);
  if (unknown.length === 0) return;
  for (const server of unknown) {
    tried.add(definitionOf(server));
    if (states.get(server) === "disconnected" || !firstStarts.has(server)) firstStarts.set(server, now);
  }
  const starts = unknown.map(async (server) => {
    const own = host.shareOf(server) === "all" ? host : await hosts.hostOf(server, era);
    await own.start({ servers: [server] });
  });
  await new Promise<void>((resolve) => {
    const callOff = clock.after(waitTime, resolve, { background: true });
    void Promise.allSettled(starts).then(() => {
      callOff();
      resolve();
    });
  });
}

/** The client's hosts and protocol era. `tried` is updated. */
export interface FirstDiscoveryOptions {
  readonly hosts: ClientHosts;
  readonly clock: Clock;
  readonly era: Era;
  readonly tried: Set<string>;
}
