/** Decides which tools are listed to a client of a gateway that has a budget for them. Pure. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { ToolBudget } from "../../settings/define/definition.ts";
import { estimateTokens } from "../../text/token-estimate.ts";
import type { ListableTool } from "../gateway-types.ts";

interface ListingRules {
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** Tools that were called with success in this workspace before: latest first. */
  readonly used: readonly ToolIdentity[];
}

/** No room is kept free, as it is for models: the client calls the tools that it finds without having them listed. */
export function toolsWithin<T extends ListableTool>(
  tools: readonly T[],
  { tokens: room = Number.POSITIVE_INFINITY, tools: most = Number.POSITIVE_INFINITY }: ToolBudget,
  { isAlwaysLoaded, used }: ListingRules,
): readonly T[] {
  const byKey = new Map(tools.map((tool) => [keyOf(tool), tool]));
  const ranked = new Set([
    ...tools.filter(({ serverName }) => isAlwaysLoaded(serverName)),
    ...used.flatMap((tool) => byKey.get(keyOf(tool)) ?? []),
    ...tools,
  ]);
  const fitting = new Set<T>();
  let left = room;
  for (const tool of ranked) {
    if (fitting.size >= most) break;
    const cost = estimateTokens(JSON.stringify(tool.definition));
    if (cost > left) continue;
    left -= cost;
    fitting.add(tool);
  }
  return tools.filter((tool) => fitting.has(tool));
}

function keyOf({ serverName, serverToolName }: ToolIdentity): string {
  return JSON.stringify([serverName, serverToolName]);
}
