/** Formats the number of tokens that tool definitions cost a model: servers and tools sorted by tokens, with bars. */

import { groupBy } from "@fairlead/core/text/group-by";
import { joinSafe, padSafe, repeatSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { OfferedTool } from "@fairlead/core/turn/conversation";
import { count, type Style, spacedNumber } from "../output.ts";

/** The estimated tokens of a server's tool definitions. */
export interface ServerCost {
  readonly server: string;
  readonly tokens: number;
  readonly tools: readonly OfferedTool[];
}

/** Sorts the servers by their cost in tokens, most expensive first. Sorts the tools of each server in the same way. */
export function serverCosts(offeredTools: readonly OfferedTool[]): readonly ServerCost[] {
  return [...groupBy(offeredTools, ({ server }) => server)]
    .map(([server, tools]) => ({
      server,
      tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
      tools: tools.toSorted((one, other) => other.tokens - one.tokens),
    }))
    .sort((one, other) => other.tokens - one.tokens);
}

const barWidth = 20;

/** Returns the costs of all servers and tools, and the total. */
export function costsText(costs: readonly ServerCost[], style: Style): SafeText {
  const all = costs.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(1, ...costs.flatMap(({ tools }) => tools.map(({ tokens }) => tokens)));
  const blocks = costs.map(({ server, tokens, tools }) => {
    const share = Math.round((100 * tokens) / Math.max(all, 1));
    const title = safe`${style.bold(toVisibleLine(server))}: about ${spacedNumber(tokens)} tokens, ${share} % of all`;
    return joinSafe([title, ...tools.map((tool) => toolLine(tool, most))]);
  });
  const offered = costs.flatMap(({ tools }) => tools).filter((tool) => tool.offered);
  const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
  const total = safe`A model is offered ${count(offered.length, "tool")} directly, about ${spacedNumber(tokens)} tokens; all tools: about ${spacedNumber(all)} tokens.`;
  return joinSafe([...blocks, total], safe`\n\n`);
}

function toolLine({ serverToolName, tokens, offered }: OfferedTool, most: number): SafeText {
  const bar = repeatSafe(safe`#`, Math.max(1, Math.round((barWidth * tokens) / most)));
  const note = offered ? safe`` : safe` (the model must search for it)`;
  return safe`  ${repeatSafe(safe` `, 7 - spacedNumber(tokens).length)}${spacedNumber(tokens)}  ${padSafe(bar, barWidth)}  ${toVisibleLine(serverToolName)}${note}`;
}
