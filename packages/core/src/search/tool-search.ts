/** Searches the tools of a host. The index is built at the first search and updated when the registry changes. */

import { createHash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { toolKey } from "../normalise/tool-name.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import { groupBy } from "../text/group-by.ts";
import { createTurns, nextTurn, type Turns } from "../text/turns.ts";
import { type RankedTool, ToolIndex } from "./tool-index.ts";
import type { SearchableServer, SearchableTool } from "./words.ts";

/** A tool that matches a query. A higher score means a better match. */
export interface FoundTool {
  readonly tool: RegisteredTool;
  readonly score: number;
}

/** Searches the names, descriptions and parameters of all tools of a host. Builds the index at the first `find`. */
export class ToolSearch {
  readonly #tools: () => Promise<readonly RegisteredTool[]>;
  readonly #aboutServer: (name: string) => SearchableServer;
  readonly #index = new ToolIndex();
  readonly #digests = new Map<string, string>();
  #indexed: readonly RegisteredTool[] = [];
  #names: ToolNames = emptyNames;
  #updating: Promise<void> | undefined;

  /** @param tools Returns all tools: the same array until a tool changes. */
  constructor(tools: () => Promise<readonly RegisteredTool[]>, aboutServer: (name: string) => SearchableServer) {
    this.#tools = tools;
    this.#aboutServer = aboutServer;
  }

  /**
   * The matching tools, best first. If there are several queries, their results alternate.
   *
   * @param isWanted Whether the result may contain this tool. Called only for tools that would get a place.
   */
  async find(
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
  ): Promise<readonly FoundTool[]> {
    this.#updating ??= this.#update().finally(() => (this.#updating = undefined));
    await this.#updating;
    const { named, find } = this.#names;
    const toolOf = ({ server, tool: { name } }: NamedTool): RegisteredTool | undefined => find(server, name);
    const found = await findTools(queries, {
      index: this.#index,
      named,
      limit,
      isWanted(match) {
        const tool = toolOf(match);
        return tool !== undefined && isWanted(tool);
      },
    });
    return found.flatMap((match) => {
      const tool = toolOf(match);
      return tool === undefined ? [] : [{ tool, score: match.score }];
    });
  }

  /** Updates the index with the current tools. Skips servers whose digest is unchanged. */
  async #update(): Promise<void> {
    const latest = await this.#tools();
    if (latest === this.#indexed) return;
    const turns = createTurns();
    const byServer = groupBy(latest, ({ serverName }) => serverName);
    for (const server of [...this.#digests.keys()].filter((name) => !byServer.has(name))) {
      this.#digests.delete(server);
      await this.#index.remove(server);
    }
    for (const [server, ofServer] of byServer) {
      const about = this.#aboutServer(server);
      const digest = await digestOf(about, ofServer, turns);
      if (this.#digests.get(server) === digest) continue;
      await this.#index.set(about, ofServer.map(toSearchable));
      this.#digests.set(server, digest);
    }
    this.#names = await namesOf(latest);
    this.#indexed = latest;
  }
}

const toolsPerTurn = 250;
/** Only this many characters of a query are compared with tool names, because trying each separator takes time. */
const longestName = 1000;

interface ToolNames {
  readonly find: (server: string, name: string) => RegisteredTool | undefined;
  /**
   * Returns the tools with this name, in upper or lower case. The name may be the name for the model, the server's own
   * name for the tool (`search`), or server and tool (`files.search`).
   */
  readonly named: (name: string) => readonly NamedTool[];
}

const emptyNames: ToolNames = { find: () => undefined, named: () => [] };
/** The separators between the name of a server and the name of a tool. */
const separators = ["/", ".", "__"];

async function namesOf(tools: readonly RegisteredTool[]): Promise<ToolNames> {
  const byName = new Map<string, RegisteredTool[]>();
  const byServer = new Map<string, Map<string, RegisteredTool>>();
  const turns = createTurns(toolsPerTurn);

  function add(name: string, tool: RegisteredTool): void {
    const key = name.toLowerCase();
    const others = byName.get(key);
    if (others === undefined) byName.set(key, [tool]);
    else others.push(tool);
  }

  for (const tool of tools) {
    const { name, serverName, serverToolName } = tool;
    const own = byServer.get(serverName) ?? new Map<string, RegisteredTool>();
    byServer.set(serverName, own.set(serverToolName, tool));
    add(serverToolName, tool);
    if (name !== serverToolName) add(name, tool);
    await turns.done(1);
  }

  function* withServer(name: string): Iterable<RegisteredTool> {
    for (const separator of separators)
      for (let at = name.indexOf(separator); at >= 0; at = name.indexOf(separator, at + 1)) {
        const [server, own] = [name.slice(0, at), name.slice(at + separator.length)];
        for (const tool of byName.get(own) ?? [])
          if (tool.serverName.toLowerCase() === server && tool.serverToolName.toLowerCase() === own) yield tool;
      }
  }

  return {
    find: (server, name) => byServer.get(server)?.get(name),
    named(name) {
      const wanted = name.slice(0, longestName).toLowerCase();
      const found = new Set([...(byName.get(wanted) ?? []), ...withServer(wanted)]);
      return [...found].map(({ serverName: server, serverToolName: own }) => ({ server, tool: { name: own } }));
    },
  };
}

function toSearchable(tool: RegisteredTool): SearchableTool {
  const { serverToolName: name, title, description } = tool;
  return { name, title, description, inputSchema: schemaOf(tool) };
}

function schemaOf({ parameterSchemaJson }: RegisteredTool): JsonObject | undefined {
  return isObject(parameterSchemaJson) ? parameterSchemaJson : undefined;
}

/** A digest of everything that the index reads about a server. */
async function digestOf(about: SearchableServer, tools: readonly RegisteredTool[], turns: Turns): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(about));
  for (const tool of tools) {
    const text = JSON.stringify([tool.serverToolName, tool.title, tool.description, tool.parameterSchemaJson]);
    hash.update(text);
    await turns.done(text.length);
  }
  return hash.digest("base64");
}

/** A tool that can be found by its name. */
type NamedTool = Omit<RankedTool, "score">;

/** Where to search, and which tools to return. */
interface FindToolsOptions {
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
