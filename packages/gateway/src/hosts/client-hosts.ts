/** The hosts that one client uses: shared hosts, and its own hosts for servers that must not be shared. */

import type { Clock } from "@fairlead/core/clock";
import type { Host } from "@fairlead/core/host/types";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { Era, JsonObject } from "@fairlead/wire";
import type { CreateGatewayHost, Workspace } from "./gateway-host.ts";
import { createSharedHosts, type SharedHost, type SharedHosts } from "./shared-hosts.ts";

/** Finds the host for each request of one client. */
export interface ClientHosts {
  readonly shared: SharedHost;
  /** Sets what the client's own hosts declare to servers. Without this call: elicitation, sampling and roots. */
  declare(capabilities: JsonObject): void;
  /**
   * Returns the host for this client's requests to the server. Returns a promise only if the host must be found or
   * created first.
   */
  hostOf(server: string, era: Era): Host | Promise<Host>;
  /** Tells the servers of the client's own hosts that its roots have changed. */
  rootsChanged(): Promise<void>;
  /** Closes the client's own hosts. */
  close(): Promise<void>;
}

/** The hosts of all workspaces. `open` finds or creates those of one workspace. */
export interface HostPool extends AsyncDisposable {
  open(workspace: Workspace): Promise<ClientHosts>;
  /** Returns all running hosts. */
  hosts(): readonly Host[];
}

/** How the pool creates a host. */
export interface HostPoolOptions {
  readonly createHost: CreateGatewayHost;
  readonly clock: Clock;
}

/** The hosts of a workspace end this many milliseconds after its last client has left. */
const stays = 300_000;

interface Pooled {
  readonly hosts: SharedHosts;
  clients: number;
  callOff: (() => void) | undefined;
}

/** Creates an empty pool. Dispose it to close all shared hosts. */
export function createHostPool({ createHost, clock }: HostPoolOptions): HostPool {
  const pooled = new Map<string, Promise<Pooled>>();
  const opened = new Set<SharedHosts>();
  const owned = new Set<Host>();

  async function openShared(workspace: Workspace): Promise<Pooled> {
    const hosts = await createSharedHosts((hooks) => createHost(workspace, hooks), clock);
    opened.add(hosts);
    return { hosts, clients: 0, callOff: undefined };
  }

  async function end(key: string, { hosts }: Pooled): Promise<void> {
    pooled.delete(key);
    opened.delete(hosts);
    await hosts[Symbol.asyncDispose]();
  }

  return {
    async open(workspace) {
      const key = keyOf(workspace);
      const opening = pooled.get(key) ?? openShared(workspace);
      pooled.set(key, opening);
      const found = await opening.catch((error: unknown) => {
        pooled.delete(key);
        throw error;
      });
      found.clients += 1;
      found.callOff?.();
      found.callOff = undefined;
      const { hosts } = found;
      /** The client's own hosts, by the protocol era of its requests. */
      const own = new Map<Era, Promise<Host>>();
      let declared: JsonObject = { elicitation: {}, sampling: {}, roots: {} };
      let isClosed = false;

      async function openOwn(era: Era): Promise<Host> {
        const declares = (name: string): boolean => declared[name] !== undefined;
        const host = await createHost(workspace, {
          declare: { elicitation: declares("elicitation"), sampling: declares("sampling"), roots: declares("roots") },
          onQuestion: async (server, method) => {
            throw new Error(`"${server}" sent ${method}, but the client cannot answer: it has no open request`);
          },
          ...(era === "legacy" && { era }),
        });
        owned.add(host);
        hosts.follow(host);
        return host;
      }

      function forClient(host: Host, server: string, era: Era): Host | Promise<Host> {
        if (host.shareOf(server) === "all") return host;
        if (isClosed) return Promise.reject(new Error("the client has disconnected"));
        const existing = own.get(era);
        if (existing !== undefined) return existing;
        const opening = openOwn(era).catch((error: unknown) => {
          // Lets the next request try again.
          own.delete(era);
          throw error;
        });
        own.set(era, opening);
        return opening;
      }

      return {
        shared: hosts,
        declare(capabilities) {
          declared = capabilities;
        },
        hostOf(server, era) {
          const host = hosts.hostOf(server, era);
          return host instanceof Promise
            ? host.then((each) => forClient(each, server, era))
            : forClient(host, server, era);
        },
        async rootsChanged() {
          for (const host of own.values()) await (await host).rootsChanged();
        },
        async close() {
          isClosed = true;
          found.clients -= 1;
          if (found.clients === 0) found.callOff = clock.after(stays, () => void end(key, found), { background: true });
          for (const opening of own.values()) {
            const host = await opening.catch(() => undefined);
            if (host === undefined) continue;
            owned.delete(host);
            await host[Symbol.asyncDispose]();
          }
        },
      };
    },
    hosts: () => [...[...opened].flatMap((each) => each.hosts()), ...owned],
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [...pooled].map(async ([key, opening]) => {
          const made = await opening.catch(() => undefined);
          made?.callOff?.();
          if (made !== undefined) await end(key, made);
        }),
      );
    },
  };
}

function keyOf({ cwd, env, options }: Workspace): string {
  return canonicalJson([cwd, env, options ?? {}]);
}
