/** The tools of one conversation: a name that its model has seen means the same tool until the end, or no tool. */

import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { assignNames, type Pin } from "../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "./discovered-tool.ts";

/** The current tools, under the names of one conversation. */
export interface ConversationTools {
  getTool(modelName: string): DiscoveredMCPTool | undefined;
  getAllTools(): readonly DiscoveredMCPTool[];
  /** All tools, including those that cannot be offered to a model. */
  getEveryTool(): readonly DiscoveredMCPTool[];
  /** Every name that the conversation has given, oldest first. */
  names(): readonly Pin[];
  /** The tools for one request: at most 512, because a model's API accepts no more. */
  getFunctionDeclarations(): FunctionDeclaration[];
}

/**
 * Opens a conversation. `registered` must return the same array as long as no tool changes. `earlier`: the names that the
 * conversation has given in an earlier run.
 */
export function openConversation(
  registered: () => readonly DiscoveredMCPTool[],
  earlier: readonly Pin[] = [],
): ConversationTools {
  const pins = new Map(earlier.map((each) => [each.as, each]));
  let source = registered();
  let byName = pin(earlier.length === 0 ? source : renamed(source));

  function pin(tools: readonly DiscoveredMCPTool[]): ReadonlyMap<string, DiscoveredMCPTool> {
    for (const { name: as, serverName: server, serverToolName: name } of tools) pins.set(as, { server, name, as });
    return new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Later tools always get qualified names, so that names do not depend on the order of registration. */
  function renamed(tools: readonly DiscoveredMCPTool[]): readonly DiscoveredMCPTool[] {
    const claims = tools.map(({ serverName: server, serverToolName: name }) => ({ server, name }));
    const names = assignNames(claims, { isAlwaysQualified: () => true, pins: [...pins.values()] });
    return tools.map((tool, at) => underName(tool, names[at]));
  }

  function current(): ReadonlyMap<string, DiscoveredMCPTool> {
    const now = registered();
    if (now === source) return byName;
    source = now;
    byName = pin(renamed(now));
    return byName;
  }

  const every = (): readonly DiscoveredMCPTool[] => [...current().values()];
  const offered = (): readonly DiscoveredMCPTool[] => every().filter(isOffered);
  return {
    getTool(modelName) {
      const tool = current().get(modelName);
      return tool && isOffered(tool) ? tool : undefined;
    },
    getAllTools: offered,
    getEveryTool: every,
    names: () => [...pins.values()],
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
