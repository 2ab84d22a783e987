/** Finds what a command means in what is known of servers, and asks only those that have to be asked for that. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "./connect-servers.ts";
import { printRefusal } from "./with-catalogs.ts";

interface Search<T> {
  /** Servers that the person named, or may have. */
  readonly named: readonly string[];
  /** Whether a server that was not named may be meant all the same. */
  readonly isOpen: boolean;
  /** Looks into what is known so far. An error that more knowledge could not mend is thrown. */
  readonly find: () => T | HostError;
  /** Only these may be asked; by default all. */
  readonly servers?: readonly string[] | undefined;
  /** How long, in milliseconds, servers are waited for; by default as long as the settings say. */
  readonly wait?: number | undefined;
}

export async function lookUp<T>(search: Search<T>, host: Host, context: Context): Promise<T> {
  const { named, isOpen, find, servers = namesOf(host), wait } = search;
  const known = new Set((await host.recall()).map(({ server }) => server));
  const isUnknown = (name: string): boolean => !known.has(name);
  await connectWithin(wait, host, named.filter(isUnknown), context);
  const remembered = find();
  if (!(remembered instanceof HostError)) return remembered;
  // What is remembered may be old, and of some servers nothing is.
  const others = isOpen ? servers.filter((name) => isUnknown(name) && !named.includes(name)) : [];
  await connectWithin(wait, host, [...named, ...others], context);
  const found = find();
  if (!(found instanceof HostError)) return found;
  for (const state of host.states()) {
    if (state.status === "connected") continue;
    if (named.includes(state.name)) throw notConnectedError(state);
    if (others.includes(state.name)) printRefusal(state, context.out);
  }
  throw found;
}

/** Whoever takes longer may still come; nobody waits for it. */
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

export function namesOf(host: Host): readonly string[] {
  return host.states().map(({ name }) => name);
}

/** The one server that is about to be asked for something. */
export async function connectServer(server: string, host: Host, context: Context): Promise<void> {
  await connectServers(host, [server], context);
  const state = host.states().find(({ name }) => name === server);
  if (state !== undefined && state.status !== "connected") throw notConnectedError(state);
}
