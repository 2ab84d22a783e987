/** The tools of all servers, each under one name for the model. Which tool a name means is looked up, never read out of it. */

import type { FunctionDeclaration } from "../normalise/model-types.ts";
import type { DiscoveredMCPTool } from "./discovered-tool.ts";
import { createNamedItems, type NamedItems } from "./named-items.ts";
import { type ConversationTools, openConversation } from "./pinned-tools.ts";

export interface ToolRegistryOptions {
  /** Who stands first keeps the bare name; by default whose tools come first. */
  readonly serverOrder?: readonly string[];
  /** Servers that never take a bare name. */
  readonly alwaysQualified?: readonly string[];
  /** How many tools of one server are offered; 512 unless said otherwise. */
  readonly toolsPerServer?: number;
}

/** A tool that a model is not offered. */
export interface QuarantinedTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly reason: string;
}

/** The tools of all servers, each under one unique name for the model. */
export class ToolRegistry {
  readonly #tools: NamedItems<DiscoveredMCPTool>;

  constructor({ serverOrder, alwaysQualified, toolsPerServer = 512 }: ToolRegistryOptions = {}) {
    this.#tools = createNamedItems({
      ownName: (tool) => tool.serverToolName,
      serverOrder,
      alwaysQualified,
      limit: {
        count: toolsPerServer,
        reason: `only the first ${toolsPerServer} tools of a server are offered; includeTools and excludeTools choose which`,
      },
    });
  }

  /** Of two with the same server and tool the first stays. */
  registerTool(tool: DiscoveredMCPTool): void {
    this.#tools.add(tool);
  }

  /** All tools of that server at once: nobody ever sees a part of them. */
  replaceServer(serverName: string, tools: Iterable<DiscoveredMCPTool>): void {
    this.#tools.replace(serverName, tools);
  }

  /** Takes over another order of servers: the first of equal names keeps the bare one. Conversations keep the names they have shown. */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    this.#tools.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    this.#tools.remove(serverName);
  }

  getTool(modelName: string): DiscoveredMCPTool | undefined {
    return offered(this.#tools.get(modelName));
  }

  find(serverName: string, serverToolName: string): DiscoveredMCPTool | undefined {
    return offered(this.#tools.find(serverName, serverToolName));
  }

  getAllTools(): readonly DiscoveredMCPTool[] {
    return this.#tools.all().filter(isOffered);
  }

  getToolsByServer(serverName: string): readonly DiscoveredMCPTool[] {
    return this.#tools.ofServer(serverName).filter(isOffered);
  }

  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getAllTools().map((tool) => tool.schema);
  }

  quarantined(): readonly QuarantinedTool[] {
    const unusable = this.#tools.all().flatMap(({ serverName: server, serverToolName, quarantine: reason }) => {
      return reason === undefined ? [] : [{ server, serverToolName, reason }];
    });
    return [...unusable, ...this.leftOut()];
  }

  /** Those of them that do not even have a name: there are too many. */
  leftOut(): readonly QuarantinedTool[] {
    return this.#tools.leftOut().map(({ server, ownName, reason }) => ({ server, serverToolName: ownName, reason }));
  }

  /** Names as they are now, for as long as the conversation lasts. */
  openConversation(): ConversationTools {
    return openConversation(() => this.#tools.all());
  }
}

/** A tool that cannot be offered keeps its name: what the others are called does not depend on the model's API. */
function offered(tool: DiscoveredMCPTool | undefined): DiscoveredMCPTool | undefined {
  return tool && isOffered(tool) ? tool : undefined;
}

function isOffered(tool: DiscoveredMCPTool): boolean {
  return tool.quarantine === undefined;
}
