/** Connects the servers of which no catalog is cached: their tools are not known in any other way. */

import { type Clock, sleep } from "@fairlead/core/clock";
import type { ClientHosts } from "../hosts/client-hosts.ts";

/** How long the first list waits for servers that were never listed, in milliseconds. Others never delay it. */
const patience = 2000;

/**
 * Starts the servers without a catalog that may start. Resolves when all of them have connected or failed, or when the
 * patience is over; servers that are slower report their lists as changed.
 */
export async function discoverUnknown(
  servers: readonly string[],
  hosts: ClientHosts,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { host } = hosts.shared;
  const failed = new Set((await host.failedStarts()).map(({ server }) => server));
  const startable = new Set(
    host.states().flatMap(({ name, status }) => (status === "disconnected" && !failed.has(name) ? [name] : [])),
  );
  const unknown = servers.filter((server) => startable.has(server) && host.catalog(server) === undefined);
  if (unknown.length === 0) return;
  const starts = unknown.map(async (server) => {
    const own = await hosts.hostOf(server, {});
    await own.start({ servers: [server], signal });
  });
  const enough = new AbortController();
  const late = sleep(clock, patience, AbortSignal.any([enough.signal, signal]));
  await Promise.race([Promise.allSettled(starts), Promise.allSettled([late])]);
  enough.abort();
}
