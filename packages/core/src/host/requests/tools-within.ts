/** Decides which tools a gateway lists to a client that has a tool budget. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { ToolBudget } from "../../settings/define/definition.ts";
import { estimateTokens, exceedsTokens } from "../../text/token-estimate.ts";
import { createTurns } from "../../text/turns.ts";
import type { ListableTool } from "../gateway-types.ts";

interface ListingRules {
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** Tools that were called successfully in this workspace, latest first. */
  readonly used: readonly ToolIdentity[];
}

/** Chooses the tools to list within the client's budget. The client can still call the others. */
export async function toolsWithin<T extends ListableTool>(
  tools: readonly T[],
  { tokens: room = Number.POSITIVE_INFINITY, tools: most = Number.POSITIVE_INFINITY }: ToolBudget,
  { isAlwaysLoaded, used }: ListingRules,
): Promise<readonly T[]> {
  const turns = createTurns();
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
    const text = JSON.stringify(tool.definition);
    const cost = costWithin(text, left);
    await turns.done(text.length);
    if (cost === undefined) continue;
    left -= cost;
    fitting.add(tool);
  }
  return tools.filter((tool) => fitting.has(tool));
}

/** The estimated tokens of the text; undefined if it has more than `left` tokens. */
function costWithin(text: string, left: number): number | undefined {
  if (exceedsTokens([text], left)) return undefined;
  return estimateTokens(text);
}

function keyOf({ serverName, serverToolName }: ToolIdentity): string {
  return JSON.stringify([serverName, serverToolName]);
}
