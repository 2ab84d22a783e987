/** Searches the tools of a host. The index is built at the first search and updated when the registry changes. */

import { createHash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { groupBy } from "../text/group-by.ts";
import { createTurns, type Turns } from "../text/turns.ts";
import { findTools, type NamedTool } from "./find-tools.ts";
import { createToolIndex } from "./tool-index.ts";
import type { SearchableServer, SearchableTool } from "./tool-words.ts";

/** A tool that matches a query. A higher score means a better match. */
export interface FoundTool {
  readonly tool: RegisteredTool;
  readonly score: number;
}

/** Searches the names, descriptions and parameters of all tools of a host. */
export interface ToolSearch {
  /**
   * The matching tools, best first. If there are several queries, their results alternate.
   *
   * @param isWanted Whether the result may contain this tool. Called only for tools that would get a place.
   */
  readonly find: (
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
  ) => Promise<readonly FoundTool[]>;
}

/** The tools to search, and the server texts that are searched with them. */
export interface ToolSearchOptions {
  /** All tools. Returns the same array until a tool changes. */
  readonly tools: () => Promise<readonly RegisteredTool[]>;
  readonly aboutServer: (name: string) => SearchableServer;
}

/** Creates a search. Builds the index at the first `find`, not now. */
export function createToolSearch({ tools, aboutServer }: ToolSearchOptions): ToolSearch {
  const index = createToolIndex();
  const digests = new Map<string, string>();
  let indexed: readonly RegisteredTool[] = [];
  let names: ToolNames = emptyNames;
  let updating: Promise<void> | undefined;

  /** Updates the index with the current tools. Skips servers whose digest is unchanged. */
  async function update(): Promise<void> {
    const latest = await tools();
    if (latest === indexed) return;
    const turns = createTurns();
    const byServer = groupBy(latest, ({ serverName }) => serverName);
    for (const server of [...digests.keys()].filter((name) => !byServer.has(name))) {
      digests.delete(server);
      await index.remove(server);
    }
    for (const [server, ofServer] of byServer) {
      const about = aboutServer(server);
      const digest = await digestOf(about, ofServer, turns);
      if (digests.get(server) === digest) continue;
      await index.set(about, ofServer.map(toSearchable));
      digests.set(server, digest);
    }
    names = await namesOf(latest);
    indexed = latest;
  }

  return {
    async find(queries, limit, isWanted) {
      updating ??= update().finally(() => (updating = undefined));
      await updating;
      const { named, find } = names;
      const toolOf = ({ server, tool: { name } }: NamedTool): RegisteredTool | undefined => find(server, name);
      const found = await findTools(queries, {
        index,
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
    },
  };
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
