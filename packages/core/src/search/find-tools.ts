/** Finds tools for one or several queries. Tools with the exact name come first. Pure. */

import { toolKey } from "../normalise/tool-name.ts";
import { nextTurn } from "../text/turns.ts";
import type { RankedTool, ToolIndex } from "./tool-index.ts";

/** A tool that can be found by its name. */
export type NamedTool = Omit<RankedTool, "score">;

/** Where to search, and the maximum number of tools to return. */
export interface FindToolsOptions {
  readonly index: Pick<ToolIndex, "rank">;
  /** Returns the tools with exactly this name. */
  readonly named: (name: string) => readonly NamedTool[];
  readonly limit: number;
}

/** The score of a tool that was found by its exact name. All other scores are lower. */
const exactScore = 1000;

/**
 * Returns the tools, best first and each only once. If there are several queries, returns the best tool of each query,
 * then the second best of each.
 */
export async function findTools(
  queries: readonly string[],
  { index, named, limit }: FindToolsOptions,
): Promise<readonly RankedTool[]> {
  const lists: (readonly RankedTool[])[] = [];
  for (const query of queries) {
    // Lets other code run between two queries, because one search among very many tools takes a few milliseconds.
    if (lists.length > 0) await nextTurn();
    const exact = namesIn(query).flatMap(named);
    lists.push([...exact.map((match) => ({ ...match, score: exactScore })), ...index.rank(query, limit)]);
  }
  const found = new Map<string, RankedTool>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest; at += 1)
    for (const list of lists) {
      const ranked = list[at];
      if (ranked === undefined) continue;
      const key = toolKey(ranked.server, ranked.tool.name);
      if (!found.has(key)) found.set(key, ranked);
    }
  return [...found.values()].slice(0, limit);
}

/** The tool names in a query: the whole query, or the names after `select:`. */
function namesIn(query: string): readonly string[] {
  const text = query.trim();
  const [, list] = /^select:(.*)$/s.exec(text) ?? [];
  return list === undefined ? [text] : list.split(",").map((name) => name.trim());
}
