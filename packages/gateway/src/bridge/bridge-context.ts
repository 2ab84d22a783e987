/** The state that the gateway shares between all requests of one client. */

import type { Clock } from "@fairlead/core/clock";
import type { Era, JsonObject } from "@fairlead/wire";
import type { Consent } from "../consent/consent.ts";
import type { GatewayClient } from "../gateway-client.ts";
import type { ClientHosts } from "../hosts/client-hosts.ts";
import { reachOf } from "../lists/client-reach.ts";
import { type ClientView, viewFor } from "../lists/client-view.ts";
import { discoverUnknown } from "../lists/first-discovery.ts";
import type { ParkedCalls } from "../questions/parked-calls.ts";
import type { FairTurns } from "./fair-turns.ts";
import type { TaskOwners } from "./task-owners.ts";
import type { UpstreamLevels } from "./upstream-levels.ts";

/** The parts of a gateway that all its clients share. */
export interface GatewayParts {
  readonly consent: Consent;
  readonly parked: ParkedCalls;
  readonly levels: UpstreamLevels;
  readonly turns: FairTurns;
  readonly tasks: TaskOwners;
  /** The gateway's name and version. A client of `/mcp/<server>` gets the server's own name and version instead. */
  readonly serverInfo: JsonObject;
  readonly clock: Clock;
}

/** One client of the gateway: its hosts, and the lists that it sees. */
export interface BridgeContext extends GatewayParts {
  readonly client: GatewayClient;
  readonly hosts: ClientHosts;
  /**
   * Digests of allowed sampling requests. A task may repeat such a request, and then the rules are not checked again.
   */
  readonly sampled: Set<string>;
  /** Returns the tools, prompts and resources that the client sees now. */
  readonly view: () => ClientView;
  /** Connects to servers without a cached catalog, and waits for them. Rejects if the signal aborts first. */
  readonly discovered: (era: Era, signal: AbortSignal) => Promise<void>;
}

/** Creates the state of one client. Connects to no server. */
export function createBridgeContext(parts: GatewayParts, client: GatewayClient, hosts: ClientHosts): BridgeContext {
  const { host, news } = hosts.shared;
  const tried = new Set<string>();
  let view: ClientView | undefined;
  let version: number | undefined;
  let discovery: Promise<void> | undefined;

  return {
    ...parts,
    client,
    hosts,
    sampled: new Set(),
    view() {
      if (view === undefined || version !== news.version()) {
        version = news.version();
        view = viewFor(reachOf(client, host), host);
      }
      return view;
    },
    async discovered(era, signal) {
      discovery ??= discoverUnknown(reachOf(client, host).servers, { hosts, clock: parts.clock, era, tried }).finally(
        () => {
          // The next list request looks for unknown servers again, because servers may have been added.
          discovery = undefined;
        },
      );
      await unlessAborted(discovery, signal);
    },
  };
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
