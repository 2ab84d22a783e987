/** Finds tools for one or several queries. Tools with the exact name come first. */

import { toolKey } from "../normalise/tool-name.ts";
import { createTurns, nextTurn } from "../text/turns.ts";
import type { RankedTool, ToolIndex } from "./tool-index.ts";

/** A tool that can be found by its name. */
export type NamedTool = Omit<RankedTool, "score">;

/** Where to search, and which tools to return. */
export interface FindToolsOptions {
  readonly index: Pick<ToolIndex, "rank">;
  /** Returns the tools with exactly this name. */
  readonly named: (name: string) => readonly NamedTool[];
  readonly limit: number;
  /** Whether the result may contain this tool. Called only for tools that would get a place. */
  readonly isWanted: (tool: NamedTool) => boolean;
}

/** The score of a tool that was found by its exact name. All other scores are lower. */
const exactScore = 1000;
/** The index is asked for this many more tools than wanted, because some get no place. */
const spare = 200;

/**
 * Returns the tools, best first and each only once. If there are several queries, returns the best tool of each query,
 * then the second best of each. No server takes more than `shareOf` the places as long as other servers match.
 */
export async function findTools(queries: readonly string[], options: FindToolsOptions): Promise<readonly RankedTool[]> {
  const most = options.limit + spare;
  const ranked = await rankAll(queries, most, options);
  const first = await fillPlaces(ranked.tools, options);
  if (first.isFull || !ranked.isCut) return first.found;
  const { tools } = await rankAll(queries, Number.POSITIVE_INFINITY, options);
  return (await fillPlaces(tools, options)).found;
}

/** Ranks the tools for each query and merges the lists. `isCut`: more than `most` tools may match a query. */
async function rankAll(
  queries: readonly string[],
  most: number,
  { index, named }: FindToolsOptions,
): Promise<{ readonly tools: readonly RankedTool[]; readonly isCut: boolean }> {
  const lists: (readonly RankedTool[])[] = [];
  let isCut = false;
  for (const query of queries) {
    // Lets other code run between two queries, because one search among very many tools takes a few milliseconds.
    if (lists.length > 0) await nextTurn();
    const exact = namesIn(query).flatMap(named);
    const ranked = index.rank(query, most);
    isCut ||= ranked.length >= most;
    lists.push([...exact.map((match) => ({ ...match, score: exactScore })), ...ranked]);
  }
  const merged = new Map<string, RankedTool>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest; at += 1)
    for (const list of lists) {
      const ranked = list[at];
      if (ranked === undefined) continue;
      const key = toolKey(ranked.server, ranked.tool.name);
      if (!merged.has(key)) merged.set(key, ranked);
    }
  return { tools: [...merged.values()], isCut };
}

/**
 * How many of the first places one server may take. Servers write the texts that are searched, so a server could
 * otherwise push the tools of all others out of the result.
 */
function shareOf(placeCount: number): number {
  return Math.ceil((placeCount * 3) / 4);
}

/** How many tools are checked before other code may run (a few milliseconds). */
const checkedPerTurn = 200;

/**
 * Takes the wanted tools in their order. A tool whose server has its share of the places so far waits until the share
 * grows, or until no tool of another server is left. Tools with the exact name never wait: the query asks for them.
 *
 * @returns the found tools; `isFull`: tools after the end of `ranked` could not change them
 */
async function fillPlaces(
  ranked: readonly RankedTool[],
  { limit, isWanted }: FindToolsOptions,
): Promise<{ readonly found: readonly RankedTool[]; readonly isFull: boolean }> {
  const turns = createTurns(checkedPerTurn);
  const found: RankedTool[] = [];
  const foundByServer = new Map<string, number>();
  /** The positions in `ranked` of the tools that wait, by server, best first. */
  const waiting = new Map<string, number[]>();
  let position = 0;
  let isFull = true;

  function hasShare(server: string): boolean {
    return (foundByServer.get(server) ?? 0) < shareOf(found.length + 1);
  }

  function takeWaiting(isReady: (server: string) => boolean): RankedTool | undefined {
    const [best] = [...waiting]
      .filter(([server]) => isReady(server))
      .sort(([, [one = 0]], [, [other = 0]]) => one - other);
    if (best === undefined) return undefined;
    const [server, positions] = best;
    const first = positions.shift() ?? 0;
    if (positions.length === 0) waiting.delete(server);
    return ranked[first];
  }

  function takeNext(): RankedTool | undefined {
    const ready = takeWaiting(hasShare);
    if (ready !== undefined) return ready;
    for (; position < ranked.length; position += 1) {
      const tool = ranked[position];
      if (tool === undefined) continue;
      if (tool.score === exactScore || hasShare(tool.server)) {
        position += 1;
        return tool;
      }
      const positions = waiting.get(tool.server);
      if (positions === undefined) waiting.set(tool.server, [position]);
      else positions.push(position);
    }
    isFull = false;
    return takeWaiting(() => true);
  }

  while (found.length < limit) {
    const tool = takeNext();
    if (tool === undefined) break;
    await turns.done(1);
    if (!isWanted(tool)) continue;
    found.push(tool);
    foundByServer.set(tool.server, (foundByServer.get(tool.server) ?? 0) + 1);
  }
  return { found, isFull };
}

/** The tool names in a query: the whole query, or the names after `select:`. */
function namesIn(query: string): readonly string[] {
  const text = query.trim();
  const [, list] = /^select:(.*)$/s.exec(text) ?? [];
  return list === undefined ? [text] : list.split(",").map((name) => name.trim());
}
