/** Connects the servers that have no cached catalog, so that a client gets a list of their tools too. */

import type { Clock } from "@fairlead/core/clock";
import type { Era } from "@fairlead/wire";
import type { ClientHosts } from "../hosts/client-hosts.ts";

/** Maximum milliseconds that a list request waits for servers without a cached catalog. */
const waitTime = 2000;

/**
 * Starts the servers that have no cached catalog. Resolves when each of them has connected or failed, or when the time
 * limit is reached. If a server connects later, its clients are told that lists have changed.
 *
 * @param tried Servers that this function has already started. They are not started again.
 */
export async function discoverUnknown(
  servers: readonly string[],
  { hosts, clock, era, tried }: FirstDiscoveryOptions,
): Promise<void> {
  const { host, firstStarts } = hosts.shared;
  const candidates = servers.filter((server) => host.catalog(server) === undefined && !tried.has(server));
  if (candidates.length === 0) return;
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const now = clock.now();
  const states = new Map(host.states().map(({ name, status }) => [name, status]));

  function isAwaited(server: string): boolean {
    const status = states.get(server);
    // If earlier requests have waited for this server for `waitTime` or longer, this request does not wait for it.
    if (status === "connecting") return now - (firstStarts.get(server) ?? now) < waitTime;
    return status === "disconnected" && !failed.has(server);
  }

  const unknown = candidates.filter(isAwaited);
  if (unknown.length === 0) return;
  for (const server of unknown) {
    tried.add(server);
    if (states.get(server) !== "connecting" || !firstStarts.has(server)) firstStarts.set(server, now);
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

export interface FirstDiscoveryOptions {
  readonly hosts: ClientHosts;
  readonly clock: Clock;
  readonly era: Era;
  readonly tried: Set<string>;
}
