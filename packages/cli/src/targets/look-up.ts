/** Finds a prompt or a resource, first in the cached catalogs, then by connecting to servers that may have it. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/server";
import { errorLines } from "../output/output.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers, createWaitingLine, skippedError } from "./connect-servers.ts";
import { deniedOwners, type ToolTarget } from "./target.ts";
import { printRefusal } from "./with-catalogs.ts";

/**
 * A search by a name that several servers may have. The first one in the settings counts, so Fairlead also asks the
 * servers before the one that has the name, if they have no cached catalog.
 */
interface NameSearch<T> {
  readonly serverOf: (found: T) => string;
  /** Returns the command that names the server too, so that Fairlead connects to no other server. */
  readonly commandFor: (server: string) => string;
}

/** A request that names no server. Fairlead starts no server at which a rule denies the request by name. */
interface BareRequest {
  readonly kind: "prompt" | "resource";
  /** The prompt's name, or the resource's URI. */
  readonly name: string;
  /** Sends the request, which the rule refuses, if no other server has the prompt or resource. */
  readonly refuse: (denied: ToolTarget) => Promise<unknown>;
}

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
  /** Leave it out for a URI. */
  readonly byName?: NameSearch<T> | undefined;
  /** Leave it out if the user named a server. */
  readonly bare?: BareRequest | undefined;
  /** The only servers that Fairlead may connect to. Default: all servers. */
  readonly servers?: readonly string[] | undefined;
  /** Milliseconds to wait for servers. Default: the connect timeout in the settings. */
  readonly wait?: number | undefined;
  /**
   * Milliseconds to wait for the servers before the one that has the name. A server that hangs must not stop a command
   * for the whole connect timeout. Default: 5000, or `wait`.
   */
  readonly rivalTimeout?: number | undefined;
}

/**
 * Returns what `search.find` finds, and connects to servers if the cached catalogs are not enough.
 * @throws HostError if nothing is found: why a server in `search.named` is not connected, or the error of `search.find`
 */
export async function lookUp<T>(search: Search<T>, host: Host, context: Context): Promise<T> {
  const { named, isOpen, find, byName, bare, wait } = search;
  const { rivalTimeout = wait === undefined ? defaultRivalTimeout : undefined } = search;
  const cachedNames = new Set((await host.recall()).map(({ server }) => server));
  const isUnknown = (name: string): boolean => !cachedNames.has(name);
  const denied = bare === undefined ? [] : await deniedOwners(bare.name, host, true, bare.kind);
  const { servers: allowed = namesOf(host) } = search;
  const servers = allowed.filter((name) => !denied.some(({ server }) => server === name));
  await connectWithin(wait, host, named.filter(isUnknown), context);
  const cached = find();
  const isCached = !(cached instanceof HostError);
  const searched = isCached ? before(byName?.serverOf(cached), servers) : servers;
  const open = isOpen ? searched.filter((name) => isUnknown(name) && !named.includes(name)) : [];
  if (isCached && open.length === 0) return cached;
  const skipped = open.length === 0 ? [] : (await host.failedStarts()).filter(({ server }) => open.includes(server));
  const others = open.filter((name) => !skipped.some(({ server }) => server === name));
  // If no cached catalog has the prompt or resource, the catalogs of the named servers may be out of date.
  const wanted = isCached ? others : [...named, ...others];
  const rivals = byName && ((left: readonly string[]) => rivalsOf({ ...byName, find, servers }, left));
  const unsure = await connectWithin(wait, host, wanted, context, rivals && { of: rivals, timeout: rivalTimeout });
  const found = find();
  if (unsure !== undefined) throw unsure;
  if (!(found instanceof HostError)) return found;
  for (const state of host.states()) {
    if (state.status === "connected") continue;
    if (named.includes(state.name)) throw notConnectedError(state);
    if (others.includes(state.name)) printRefusal(state, context.out);
  }
  for (const failed of skipped) context.out.say(errorLines(skippedError(failed, Date.now())));
  const [refused] = denied;
  if (refused !== undefined) await bare?.refuse(refused);
  throw found;
}

/** Returns the servers before `server`. None if `server` is undefined or not in the list. */
function before(server: string | undefined, servers: readonly string[]): readonly string[] {
  return server === undefined ? [] : servers.slice(0, Math.max(servers.indexOf(server), 0));
}

const defaultRivalTimeout = 5000;

/** The servers to wait for, and what to tell the user about them. */
interface Rivals {
  readonly names: readonly string[];
  /** The server that has the name, unless one of the others has it too. */
  readonly owner?: string;
  /** Why Fairlead waits for these servers, and how to avoid it. */
  readonly remark: { readonly message: string; readonly next: string };
}

/**
 * Returns those of the connecting servers `left` that can still change the result. A server behind the one that has the
 * name cannot.
 */
function rivalsOf<T>(
  { find, serverOf, commandFor, servers }: NameSearch<T> & Pick<Search<T>, "find"> & { servers: readonly string[] },
  left: readonly string[],
): Rivals {
  const found = orError(find);
  if (found instanceof HostError) {
    const message = `waiting for ${quoted(left)}: no server that has answered has this name`;
    return { names: left, remark: { message, next: `to connect to one server only: ${commandFor("SERVER")}` } };
  }
  const owner = serverOf(found);
  const earlier = before(owner, servers);
  const names = left.filter((name) => earlier.includes(name));
  const theyAre = names.length > 1 ? "they are" : "it is";
  const message = `waiting for ${quoted(names)}: ${theyAre} before "${owner}" in your settings and may have the same name`;
  return { names, owner, remark: { message, next: `to use "${owner}" at once: ${commandFor(owner)}` } };
}

/** Returns the error that `find` throws, because no caller could catch it while servers connect. */
function orError<T>(find: () => T | HostError): T | HostError {
  try {
    return find();
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
}

const mostQuoted = 3;

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, mostQuoted).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** After this many milliseconds, Fairlead tells the user for which servers it waits. */
const remarkDelay = 1000;

/**
 * Connects to the servers, all at the same time. Returns when no server is left to wait for, or after `wait`
 * milliseconds (default: the connect timeout in the settings). The other servers connect in the background. `rivals.of`
 * returns which of the connecting servers to wait for; default: all. Returns an error if only these are left after
 * `rivals.timeout` milliseconds.
 */
async function connectWithin(
  wait: number | undefined,
  host: Host,
  names: readonly string[],
  context: Context,
  rivals?: { readonly of: (left: readonly string[]) => Rivals; readonly timeout: number | undefined },
): Promise<HostError | undefined> {
  const { io, out, globals } = context;
  const enough = new AbortController();
  const waiting = createWaitingLine(context);
  const left = new Set(names);
  let isTimedOut = false;
  let unsure: HostError | undefined;

  function look(): void {
    const { names: open, owner, remark } = rivals?.of([...left]) ?? { names: [...left] };
    if (open.length > 0 && (!isTimedOut || owner === undefined)) return;
    if (open.length > 0) unsure = unsureName(open, owner, remark?.next);
    enough.abort();
  }

  function tell(): void {
    if (rivals === undefined || left.size === 0 || globals.json) return;
    waiting.hide();
    out.say(errorLines(rivals.of([...left]).remark));
  }

  const after = (time: number | undefined, action: () => void) =>
    time === undefined ? [] : [setTimeout(action, time)];
  const timers = [
    ...after(remarkDelay, tell),
    ...after(wait, () => enough.abort()),
    ...after(rivals?.timeout, () => {
      isTimedOut = true;
      look();
    }),
  ];
  const onSettled = ({ name }: { readonly name: string }): void => {
    left.delete(name);
    if (rivals !== undefined) look();
  };
  try {
    const signal = AbortSignal.any([io.signal, enough.signal]);
    await connectServers(host, names, { ...context, io: { ...io, signal } }, { waiting, onSettled });
  } catch (error) {
    if (!enough.signal.aborted || io.signal.aborted) throw error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
  return unsure;
}

function unsureName(open: readonly string[], owner: string | undefined, next: string | undefined): HostError {
  const [come, have] = open.length > 1 ? ["come", "have"] : ["comes", "has"];
  const message = `the name is ambiguous: ${quoted(open)} ${come} before "${owner}" in your settings, ${have} not answered yet, and may have it too`;
  return new HostError("usage", message, { next });
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
