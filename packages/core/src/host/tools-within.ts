/** Decides which tools a gateway lists to a client that has a tool budget. */

import type { ToolIdentity } from "../policy/decide.ts";
import type { ToolBudget } from "../settings/define/definition.ts";
import { groupBy } from "../text/group-by.ts";
import { estimateTokens, exceedsTokens } from "../text/token-estimate.ts";
import { createTurns } from "../text/turns.ts";
import type { ListableTool } from "./gateway-types.ts";

interface ListingRules {
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** Tools that were called successfully in this workspace, latest first. */
  readonly used: readonly ToolIdentity[];
}

/**
 * Chooses the tools to list within the client's budget. The client can still call the others. Takes tools of servers
 * with `alwaysLoad`, then tools that were used before. The servers take turns for the rest, so that no server fills the
 * list with its tools.
 */
export async function toolsWithin<T extends ListableTool>(
  tools: readonly T[],
  { tokens: room = Number.POSITIVE_INFINITY, tools: most = Number.POSITIVE_INFINITY }: ToolBudget,
  { isAlwaysLoaded, used }: ListingRules,
): Promise<readonly T[]> {
  const turns = createTurns();
  const byKey = new Map(tools.map((tool) => [keyOf(tool), tool]));
  const fitting = new Set<T>();
  /** The part of the budget that the listed tools of each server take, from 0 to 1. */
  const parts = new Map<string, number>();
  let left = room;

  async function add(tool: T): Promise<void> {
    if (fitting.has(tool) || fitting.size >= most) return;
    const text = JSON.stringify(tool.definition);
    const cost = costWithin(text, left);
    await turns.done(text.length);
    if (cost === undefined) return;
    left -= cost;
    fitting.add(tool);
    const { serverName } = tool;
    parts.set(serverName, (parts.get(serverName) ?? 0) + Math.max(cost / room, 1 / most));
  }

  for (const tool of tools) if (isAlwaysLoaded(tool.serverName)) await add(tool);
  for (const tool of used.flatMap((each) => byKey.get(keyOf(each)) ?? [])) await add(tool);
  /** The servers whose tools were not all tried, in the order of the list. */
  const waiting = new Map(
    [...groupBy(tools, ({ serverName }) => serverName)].map(([name, own]) => [name, own.values()]),
  );
  while (waiting.size > 0 && fitting.size < most) {
    const [next] = [...waiting].sort(([one], [other]) => (parts.get(one) ?? 0) - (parts.get(other) ?? 0));
    if (next === undefined) break;
    const [server, own] = next;
    const { value: tool } = own.next();
    if (tool === undefined) waiting.delete(server);
    else await add(tool);
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
