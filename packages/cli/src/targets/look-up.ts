/** Finds a prompt or a resource, first in the cached catalogs, then by connecting to servers that may have it. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import { errorLines } from "../output/error-lines.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "./connect-servers.ts";
import { skippedError } from "./failed-start.ts";
import { printRefusal } from "./with-catalogs.ts";

interface Search<T> {
  /** Servers that the user named or probably meant. Fairlead connects to these servers first. */
  readonly named: readonly string[];
  /** Whether to search the other servers too. */
  readonly isOpen: boolean;
  /**
   * Searches the loaded catalogs. Returns an error if they do not have the prompt or resource. Throws an error that
   * more catalogs cannot remove, such as wrong arguments.
   */
  readonly find: () => T | HostError;
  /**
   * The server of the prompt or resource that was found by a name. Servers before it in the settings may have the same
   * name, and the first one counts, so those without a cached catalog are asked too. Leave it out for a URI.
   */
  readonly serverOf?: ((found: T) => string) | undefined;
  /** The only servers that Fairlead may connect to. Default: all servers. */
  readonly servers?: readonly string[] | undefined;
  /** Milliseconds to wait for servers. Default: the connect timeout in the settings. */
  readonly wait?: number | undefined;
}

/**
 * Returns what `search.find` finds, and connects to servers if the cached catalogs are not enough.
 * @throws HostError if nothing is found: why a server in `search.named` is not connected, or the error of `search.find`
 */
export async function lookUp<T>(search: Search<T>, host: Host, context: Context): Promise<T> {
  const { named, isOpen, find, serverOf, servers = namesOf(host), wait } = search;
  const cachedNames = new Set((await host.recall()).map(({ server }) => server));
  const isUnknown = (name: string): boolean => !cachedNames.has(name);
  await connectWithin(wait, host, named.filter(isUnknown), context);
  const cached = find();
  const isCached = !(cached instanceof HostError);
  const searched = isCached ? before(serverOf?.(cached), servers) : servers;
  const open = isOpen ? searched.filter((name) => isUnknown(name) && !named.includes(name)) : [];
  if (isCached && open.length === 0) return cached;
  const skipped = open.length === 0 ? [] : (await host.failedStarts()).filter(({ server }) => open.includes(server));
  const others = open.filter((name) => !skipped.some(({ server }) => server === name));
  // If no cached catalog has the prompt or resource, the catalogs of the named servers may be out of date.
  await connectWithin(wait, host, isCached ? others : [...named, ...others], context);
  const found = find();
  if (!(found instanceof HostError)) return found;
  for (const state of host.states()) {
    if (state.status === "connected") continue;
    if (named.includes(state.name)) throw notConnectedError(state);
    if (others.includes(state.name)) printRefusal(state, context.out);
  }
  for (const failed of skipped) context.out.say(errorLines(skippedError(failed, Date.now())));
  throw found;
}

/** Returns the servers before `server`. None if `server` is undefined or not in the list. */
function before(server: string | undefined, servers: readonly string[]): readonly string[] {
  return server === undefined ? [] : servers.slice(0, Math.max(servers.indexOf(server), 0));
}

/** Connects to the servers. After `wait` milliseconds, returns and lets the other servers connect in the background. */
async function connectWithin(
  wait: number | undefined,
  host: Host,
  names: readonly string[],
  context: Context,
): Promise<void> {
  if (wait === undefined) return connectServers(host, names, context);
  const { io } = context;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), wait);
  try {
    const signal = AbortSignal.any([io.signal, late.signal]);
    await connectServers(host, names, { ...context, io: { ...io, signal } });
  } catch (error) {
    if (!late.signal.aborted || io.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the names of all servers of the host, connected or not. */
export function namesOf(host: Host): readonly string[] {
  return host.states().map(({ name }) => name);
}

/**
 * Connects to one server.
 * @throws HostError with the reason if the server is not connected
 */
export async function connectServer(server: string, host: Host, context: Context): Promise<void> {
  await connectServers(host, [server], context);
  const state = host.states().find(({ name }) => name === server);
  if (state !== undefined && state.status !== "connected") throw notConnectedError(state);
}
