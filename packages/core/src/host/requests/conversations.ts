/** Creates conversations and turns with the tools, servers and confirmation of a host. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import { createConversation } from "../../turn/conversation.ts";
import type { TurnHost } from "../../turn/turn-host.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { Host, OpenHostOptions } from "../types.ts";
import type { HostCalls } from "./calls.ts";
import type { HostReads } from "./reads.ts";

/** Options of `createConversations`. */
export interface ConversationsOptions extends Pick<OpenHostOptions, "model" | "confirm"> {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "manager">;
  readonly catalogs: Catalogs;
  readonly calls: HostCalls;
  readonly reads: HostReads;
  readonly clock: Clock;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}

/** Creates the conversation methods of one host. */
export function createConversations(options: ConversationsOptions): Pick<Host, "conversation" | "runTurn"> {
  const { configuration, catalogs, calls, reads, confirm, clock, closing } = options;
  const { manager } = options.servers;
  const settings = () => configuration.current().settings.host;
  const host: TurnHost = {
    openTools: () => catalogs.tools.openConversation(),
    leftOut: () => catalogs.tools.leftOut(),
    resources: catalogs.resources,
    servers: () => configuration.order().filter(configuration.isMeantByAll),
    offersResources: () => settings().resourceFunctions,
    toolBudget: () => settings().toolBudget,
    known: catalogs.catalog,
    states: () => manager.states(),
    recall: catalogs.recall,
    start: (names) => manager.start(names),
    readResource: reads.readForModel,
    confirm,
    expandReferences: reads.expandReferences,
    keep: calls.keep,
    clock,
    closing,
  };

  const conversation: Host["conversation"] = ({ model = options.model, ...how } = {}) => {
    if (closing.aborted) throw new HostError("usage", "this host has been closed");
    if (model === undefined)
      throw new HostError("usage", "no model configured", {
        next: 'Pass "model" to createHost() or to conversation().',
      });
    // Throws `server_unknown` for a name that is not configured.
    for (const server of how.servers ?? []) manager.getClient(server);
    return createConversation({ ...how, model }, host);
  };

  return {
    conversation,
    runTurn(input, { conversation: earlier, signal, references, ...how } = {}) {
      const sending = { ...(signal && { signal }), ...(references !== undefined && { references }) };
      return (earlier ?? conversation(how)).send(input, sending);
    },
  };
}
