/** Conversations of a host with models: what a turn needs of the host, put together. */

import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { McpClientManager } from "../mcp/client-manager.ts";
import type { HostSettings } from "../settings/definition.ts";
import { createConversation } from "../turn/conversation.ts";
import type { TurnHost } from "../turn/turn-host.ts";
import type { HostCalls } from "./calls.ts";
import type { KnowledgeKeeper } from "./knowledge.ts";
import type { HostPolicy } from "./policy.ts";
import type { Reading } from "./reading.ts";
import type { Shelf } from "./shelf.ts";
import type { Host, OpenHostOptions } from "./types.ts";

export interface ConversationsOptions extends Pick<OpenHostOptions, "model" | "confirm"> {
  readonly settings: () => HostSettings;
  /** Those that are meant by "all", in their order. */
  readonly servers: () => readonly string[];
  readonly shelf: Shelf;
  readonly manager: McpClientManager;
  readonly calls: HostCalls;
  readonly reading: Reading;
  readonly policy: HostPolicy;
  readonly knowledge: KnowledgeKeeper;
  readonly clock: Clock;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}

export function createConversations(options: ConversationsOptions): Pick<Host, "conversation" | "runTurn"> {
  const { settings, servers, shelf, manager, calls, reading, policy, knowledge, confirm, clock, closing } = options;
  const host: TurnHost = {
    openTools: () => shelf.tools.openConversation(),
    leftOut: () => shelf.tools.leftOut(),
    resources: shelf.resources,
    servers,
    offersResources: () => settings().resourceFunctions,
    toolBudget: () => settings().toolBudget,
    known: (server) => shelf.offering(server)?.catalog,
    states: () => manager.states(),
    recall: knowledge.recall,
    start: (names) => manager.start(names),
    readResource: reading.readForModel,
    async ruleOf(server, tool, args) {
      const [{ verdict }, { ruleText }] = await Promise.all([
        policy.explain(server, tool, args),
        import("../policy/rule-text.ts"),
      ]);
      return ruleText(verdict.rule);
    },
    confirm,
    expandReferences: reading.expandReferences,
    keep: calls.keep,
    clock,
    closing,
  };

  const conversation: Host["conversation"] = ({ model = options.model, ...how } = {}) => {
    if (closing.aborted) throw new HostError("usage", "this host has been closed");
    if (model === undefined)
      throw new HostError("usage", "there is no model to talk to", {
        next: "Give the host or the conversation a model.",
      });
    // Throws for a server that there is not.
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
