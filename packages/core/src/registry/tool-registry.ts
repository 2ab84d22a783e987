/** `ToolRegistry`: the tools of all servers, each under one name for the model. Names are looked up, never parsed. */

import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import type { Pin } from "../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "./discovered-tool.ts";
import { createNamedItems, type NamedItems } from "./named-items.ts";
import { type ConversationTools, openConversation } from "./pinned-tools.ts";

/** Options of `ToolRegistry`. */
export interface ToolRegistryOptions {
  /** The first server with a tool of that name keeps the bare name. Default: the order of registration. */
  readonly serverOrder?: readonly string[];
  /** Servers whose tools never get a bare name. */
  readonly alwaysQualified?: readonly string[];
  /** Maximum number of tools of one server that are known. Default: 10 000. */
  readonly toolsPerServer?: number;
}

/** A tool that is not offered to a model, with the reason. */
export interface QuarantinedTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly reason: string;
}

/** The tools of all servers, each under one unique name for the model. */
export class ToolRegistry {
  readonly #tools: NamedItems<DiscoveredMCPTool>;

  constructor({ serverOrder, alwaysQualified, toolsPerServer = limits.toolsPerServer }: ToolRegistryOptions = {}) {
    this.#tools = createNamedItems({
      ownName: (tool) => tool.serverToolName,
      serverOrder,
      alwaysQualified,
      limit: {
        count: toolsPerServer,
        reason: `only the first ${toolsPerServer} tools of a server are used; includeTools and excludeTools choose which`,
      },
    });
  }

  /** Registers a tool. If the server has one with the same name already, the first one stays. */
  registerTool(tool: DiscoveredMCPTool): void {
    this.#tools.add(tool);
  }

  /** Replaces all tools of that server in one step. A function makes the tools when the registry is used next. */
  replaceServer(serverName: string, tools: Iterable<DiscoveredMCPTool> | (() => Iterable<DiscoveredMCPTool>)): void {
    this.#tools.replace(serverName, tools);
  }

  /**
   * Sets a new order of servers: the first of equal names keeps the bare name. Conversations keep the names that they
   * have shown.
   */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    this.#tools.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    this.#tools.remove(serverName);
  }

  /** Gives all tools their names in slices, so that the next use of many tools does not block other work for long. */
  ready(): Promise<void> {
    return this.#tools.ready();
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

  /** All tools, including those that cannot be offered to a model. The same array as long as no tool changes. */
  getEveryTool(): readonly DiscoveredMCPTool[] {
    return this.#tools.all();
  }

  getToolsByServer(serverName: string): readonly DiscoveredMCPTool[] {
    return this.#tools.ofServer(serverName).filter(isOffered);
  }

  /** The declarations for a request to a model: of the first 512 tools, because APIs take no more. */
  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getAllTools()
      .slice(0, limits.declarations)
      .map((tool) => tool.schema);
  }

  quarantined(): readonly QuarantinedTool[] {
    const unusable = this.#tools.all().flatMap(({ serverName: server, serverToolName, quarantine: reason }) => {
      return reason === undefined ? [] : [{ server, serverToolName, reason }];
    });
    return [...unusable, ...this.leftOut()];
  }

  /** The quarantined tools that have no name, because their server lists too many. */
  leftOut(): readonly QuarantinedTool[] {
    return this.#tools.leftOut().map(({ server, ownName, reason }) => ({ server, serverToolName: ownName, reason }));
  }

  /** Opens a conversation: the names of its tools do not change. `earlier`: names that it has given in an earlier run. */
  openConversation(earlier?: readonly Pin[]): ConversationTools {
    return openConversation(() => this.#tools.all(), earlier);
  }
}

/** A tool that cannot be offered keeps its name, so that other tools' names do not depend on the model's API. */
function offered(tool: DiscoveredMCPTool | undefined): DiscoveredMCPTool | undefined {
  return tool && isOffered(tool) ? tool : undefined;
}

function isOffered(tool: DiscoveredMCPTool): boolean {
  return tool.quarantine === undefined;
}
