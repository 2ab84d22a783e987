/** The hosts that one client uses: shared hosts, and its own hosts for servers that must not be shared. */

import type { Clock } from "@fairlead/core/clock";
import type { GreetingHooks, Host } from "@fairlead/core/host/types";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { Era, JsonObject, ServerInfo } from "@fairlead/wire";
import type { GatewayLoops } from "../gateway-loops.ts";
import type { CreateGatewayHost, Workspace } from "./gateway-host.ts";
import { createSharedHosts, type SharedHost, type SharedHosts } from "./shared-hosts.ts";

/** Finds the host for each request of one client. */
export interface ClientHosts {
  readonly shared: SharedHost;
  /** Sets what the client's own hosts declare to servers. Without this call: elicitation, sampling and roots. */
  declare(capabilities: JsonObject): void;
  /** Sets the tokens of the gateways above the client, and which servers its requests reach. */
  setAbove(tokens: readonly string[], reaches: (server: string) => boolean): void;
  /** Returns the tokens of the gateways below these servers. */
  below(servers: readonly string[]): readonly string[];
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
  /** @param conversation The id of the client's connection, `GatewayClient.conversation`. */
  open(workspace: Workspace, conversation: string): Promise<ClientHosts>;
  /** Returns all running hosts. */
  hosts(): readonly Host[];
}

export interface HostPoolOptions {
  readonly createHost: CreateGatewayHost;
  readonly loops: GatewayLoops;
  /** The name and version of this gateway. */
  readonly self: Pick<ServerInfo, "name" | "version">;
  readonly clock: Clock;
}

/** The hosts of a workspace end this many milliseconds after its last client has left. */
const stays = 300_000;

interface GatewaysAbove {
  readonly tokens: readonly string[];
  readonly reaches: (server: string) => boolean;
}

/** The gateways around the hosts of one workspace, by their tokens. */
interface Surroundings {
  readonly above: Set<GatewaysAbove>;
  /** By server. */
  readonly below: Map<string, readonly string[]>;
}

interface Pooled extends Surroundings {
  readonly hosts: SharedHosts;
  clients: number;
  callOff: (() => void) | undefined;
}

const withoutTokens =
  "is a Fairlead gateway behind a program that leaves out _meta, so Fairlead cannot tell whether it leads back to this gateway";

/** Creates an empty pool. Dispose it to close all shared hosts. */
export function createHostPool({ createHost, loops, self, clock }: HostPoolOptions): HostPool {
  const pooled = new Map<string, Promise<Pooled>>();
  const opened = new Set<SharedHosts>();
  const owned = new Set<Host>();

  async function openShared(workspace: Workspace): Promise<Pooled> {
    const around: Surroundings = { above: new Set(), below: new Map() };
    const greeting = greetingIn(around);
    const hosts = await createSharedHosts((hooks) => createHost(workspace, { ...hooks, greeting }), clock);
    opened.add(hosts);
    return { ...around, hosts, clients: 0, callOff: undefined };
  }

  function greetingIn({ above, below }: Surroundings): GreetingHooks {
    return {
      async meta(server) {
        const reaching = [...above].filter(({ reaches }) => reaches(server));
        return loops.metaOf(
          "above",
          reaching.flatMap(({ tokens }) => tokens),
        );
      },
      async accepts(server, meta, serverInfo) {
        const tokens = await loops.read("below", meta);
        if (tokens === "loop") return false;
        // Each gateway of this version sends tokens.
        const isGateway = serverInfo.name === self.name && serverInfo.version === self.version;
        if (isGateway && tokens.length === 0) return withoutTokens;
        below.set(server, tokens);
        return true;
      },
    };
  }

  async function end(key: string, { hosts }: Pooled): Promise<void> {
    pooled.delete(key);
    opened.delete(hosts);
    await hosts[Symbol.asyncDispose]();
  }

  return {
    async open(workspace, conversation) {
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
      let gatewaysAbove: GatewaysAbove | undefined;
      let isClosed = false;

      const declares = (name: string): boolean => declared[name] !== undefined;

      async function openOwn(era: Era): Promise<Host> {
        const host = await createHost(workspace, {
          declare: { elicitation: declares("elicitation"), sampling: declares("sampling"), roots: declares("roots") },
          onQuestion: async (server, method) => {
            throw new Error(`"${server}" sent ${method}, but the client cannot answer: it has no open request`);
          },
          greeting: greetingIn(found),
          era: era === "legacy" ? era : undefined,
        });
        owned.add(host);
        hosts.follow(host);
        return host;
      }

      function forClient(host: Host, server: string, era: Era): Host | Promise<Host> {
        // A client that cannot be asked anything can share a connection on which another client's question may come.
        const asked = declares("elicitation") || declares("sampling") ? conversation : undefined;
        if (host.shareOf(server, asked) === "all") return host;
        // For all clients: the lists and updates that they see come from their own connections from now on.
        host.unshare(server);
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
        setAbove(tokens, reaches) {
          if (gatewaysAbove !== undefined) found.above.delete(gatewaysAbove);
          gatewaysAbove = { tokens, reaches };
          if (tokens.length > 0 && !isClosed) found.above.add(gatewaysAbove);
        },
        below: (servers) => servers.flatMap((server) => found.below.get(server) ?? []),
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
          if (gatewaysAbove !== undefined) found.above.delete(gatewaysAbove);
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
