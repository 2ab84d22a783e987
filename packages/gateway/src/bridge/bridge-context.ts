/** What the gateway knows while it serves one client. */

import type { Clock } from "@fairlead/core/clock";
import type { JsonObject } from "@fairlead/wire";
import type { ParkedCalls } from "../asking/parked-calls.ts";
import type { SealedConsent } from "../asking/sealed-consent.ts";
import type { Consent } from "../consent/consent.ts";
import type { GatewayClient } from "../gateway-client.ts";
import type { ClientHosts } from "../hosts/client-hosts.ts";
import { type ClientView, serversOf, viewFor } from "../lists/client-view.ts";
import { discoverUnknown } from "../lists/first-discovery.ts";
import type { UpstreamLevels } from "./upstream-levels.ts";

/** The parts of a gateway that all its clients share. */
export interface GatewayParts {
  readonly consent: Consent;
  readonly parked: ParkedCalls;
  readonly sealed: SealedConsent;
  readonly levels: UpstreamLevels;
  /** The gateway's own name and version, for clients of all servers together. */
  readonly serverInfo: JsonObject;
  readonly clock: Clock;
}

/** One client, its hosts and its view of their lists. */
export interface BridgeContext extends GatewayParts {
  readonly client: GatewayClient;
  readonly hosts: ClientHosts;
  /** The lists as they are now. */
  readonly view: () => ClientView;
  /** Resolves when the servers that were never listed have been waited for. */
  readonly discovered: (signal: AbortSignal) => Promise<void>;
}

export function createBridgeContext(parts: GatewayParts, client: GatewayClient, hosts: ClientHosts): BridgeContext {
  const { host, news } = hosts.shared;
  let view: ClientView | undefined;
  let version: number | undefined;
  let discovery: Promise<void> | undefined;

  return {
    ...parts,
    client,
    hosts,
    view() {
      if (view === undefined || version !== news.version()) {
        version = news.version();
        view = viewFor(client, host);
      }
      return view;
    },
    discovered(signal) {
      discovery ??= discoverUnknown(serversOf(client, host), hosts, parts.clock, signal);
      return discovery;
    },
  };
}
