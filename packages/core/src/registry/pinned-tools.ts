/**
 * The tools of one conversation. A name that the model has seen means the same tool until the end of the conversation,
 * or no tool.
 */

import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { assignNames, type Pin } from "../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "./discovered-tool.ts";

/** The current tools, under the names of one conversation. */
export interface ConversationTools {
  getTool(modelName: string): DiscoveredMCPTool | undefined;
  getAllTools(): readonly DiscoveredMCPTool[];
  /** All tools, including tools that cannot be offered to a model. */
  getEveryTool(): readonly DiscoveredMCPTool[];
  /** Every name that the conversation has used, oldest first. */
  names(): readonly Pin[];
  /** The tools for one request: at most 512, because a model's API accepts no more. */
  getFunctionDeclarations(): FunctionDeclaration[];
}

/**
 * Opens a conversation. `registered` must return the same array until a tool changes. `earlier` contains the names that
 * the conversation used in an earlier run.
 */
export function openConversation(
  registered: () => readonly DiscoveredMCPTool[],
  earlier: readonly Pin[] = [],
): ConversationTools {
  const pins = new Map(earlier.map((each) => [each.as, each]));
  let source = registered();
  let tools = earlier.length === 0 ? source : renamed(source);
  let isPinned = false;
  // Created when needed, because most conversations with very many tools look up only a few of them.
  let byName: ReadonlyMap<string, DiscoveredMCPTool> | undefined;

  function pin(): void {
    if (isPinned) return;
    isPinned = true;
    for (const { name: as, serverName: server, serverToolName: name } of tools) pins.set(as, { server, name, as });
  }

  /**
   * Names tools that were added later. They always get qualified names, so that names do not depend on the order of
   * registration.
   */
  function renamed(later: readonly DiscoveredMCPTool[]): readonly DiscoveredMCPTool[] {
    const claims = later.map(({ serverName: server, serverToolName: name }) => ({ server, name }));
    const names = assignNames(claims, { isAlwaysQualified: () => true, pins: [...pins.values()] });
    return later.map((tool, at) => underName(tool, names[at]));
  }

  function every(): readonly DiscoveredMCPTool[] {
    const now = registered();
    if (now === source) return tools;
    pin();
    source = now;
    tools = renamed(now);
    byName = undefined;
    isPinned = false;
    return tools;
  }

  function find(modelName: string): DiscoveredMCPTool | undefined {
    const all = every();
    byName ??= new Map(all.map((tool) => [tool.name, tool]));
    return byName.get(modelName);
  }

  const offered = (): readonly DiscoveredMCPTool[] => every().filter(isOffered);
  return {
    getTool(modelName) {
      const tool = find(modelName);
      return tool && isOffered(tool) ? tool : undefined;
    },
    getAllTools: offered,
    getEveryTool: every,
    names() {
      every();
      pin();
      return [...pins.values()];
    },
    getFunctionDeclarations: () =>
      offered()
        .slice(0, limits.declarations)
        .map((tool) => tool.schema),
  };
}

function underName(tool: DiscoveredMCPTool, name = tool.name): DiscoveredMCPTool {
  return tool.name === name ? tool : tool.named(name);
}

function isOffered(tool: DiscoveredMCPTool): boolean {
  return tool.quarantine === undefined;
}
