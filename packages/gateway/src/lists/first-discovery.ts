/** Connects the servers of which no catalog is cached: their tools are not known in any other way. */

import type { Clock } from "@fairlead/core/clock";
import type { Era } from "@fairlead/wire";
import type { ClientHosts } from "../hosts/client-hosts.ts";

/** How long a list waits for servers that were never listed, in milliseconds. Others never delay it. */
const waitTime = 2000;

/**
 * Starts the servers without a catalog that may start. Resolves when all of them have connected or failed, or when the
 * time is over; servers that are slower report their lists as changed.
 *
 * @param tried Servers that were started before; those that are started now are added.
 */
export async function discoverUnknown(
  servers: readonly string[],
  { hosts, clock, era, tried }: DiscoveryOptions,
): Promise<void> {
  const { host } = hosts.shared;
  const candidates = servers.filter((server) => host.catalog(server) === undefined && !tried.has(server));
  if (candidates.length === 0) return;
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const startable = new Set(
    host.states().flatMap(({ name, status }) => (status === "disconnected" && !failed.has(name) ? [name] : [])),
  );
  const unknown = candidates.filter((server) => startable.has(server));
  for (const server of unknown) tried.add(server);
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

export interface DiscoveryOptions {
  readonly hosts: ClientHosts;
  readonly clock: Clock;
  readonly era: Era;
  readonly tried: Set<string>;
}
