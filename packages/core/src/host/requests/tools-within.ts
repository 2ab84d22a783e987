/** Decides which tools are listed to a client of a gateway that has a budget for them. Pure. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { ToolBudget } from "../../settings/define/definition.ts";
import { estimateTokens } from "../../text/token-estimate.ts";
import { type BudgetedTool, planOffer } from "../../turn/tool-budget.ts";
import type { ListableTool } from "../gateway-types.ts";

interface ListingRules {
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** Tools that were called with success in this workspace before: latest first. */
  readonly used: readonly ToolIdentity[];
}

export function toolsWithin<T extends ListableTool>(
  tools: readonly T[],
  { tokens = Number.POSITIVE_INFINITY, tools: count = Number.POSITIVE_INFINITY }: ToolBudget,
  { isAlwaysLoaded, used }: ListingRules,
): readonly T[] {
  const plan = planOffer(tools.map(toBudgeted), {
    room: { tokens, count },
    isAlwaysLoaded,
    usedBefore: used.map(keyOf),
  });
  return tools.filter((tool) => plan.get(keyOf(tool)) !== "the budget is used up");
}

function toBudgeted(tool: ListableTool): BudgetedTool {
  const text = JSON.stringify(tool.definition);
  return { key: keyOf(tool), server: tool.serverName, size: text.length, tokens: () => estimateTokens(text) };
}

function keyOf({ serverName, serverToolName }: ToolIdentity): string {
  return JSON.stringify([serverName, serverToolName]);
}
