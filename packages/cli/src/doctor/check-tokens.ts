/** Estimates how many tokens the tool definitions cost a model. Pure functions. */

import type { OfferedTool } from "@fairlead/core/turn/conversation";
import { note, type Observation } from "./finding.ts";

/** Doctor reports nothing if the estimated total is below this number of tokens. */
const small = 5_000;
const mostServers = 3;

/** Reports the total, and the servers with the most tokens. Reports nothing below 5000 tokens. */
export function checkTokens(tools: readonly OfferedTool[]): readonly Observation[] {
  const costs = new Map<string, number>();
  for (const { server, tokens } of tools) costs.set(server, (costs.get(server) ?? 0) + tokens);
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  if (total < small) return [];
  const dearest = [...costs].sort(([, one], [, other]) => other - one).slice(0, mostServers);
  const share = Math.round((dearest.reduce((sum, [, cost]) => sum + cost, 0) / total) * 100);
  const names = dearest.map(([server]) => `"${server}"`).join(", ");
  const offered = tools.filter((tool) => tool.offered).length;
  const found =
    offered === tools.length
      ? ""
      : `; a model is offered ${offered} of ${tools.length} tools and finds the others by search`;
  const message = `tool definitions cost a model about ${total} tokens, ${share} % of them for tools of ${names}${found}`;
  return [note(message, "fairlead tools --tokens")];
}
