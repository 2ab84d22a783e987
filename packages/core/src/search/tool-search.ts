/** Searches the tools of a host. The index is built with the first search and follows the registry. */

import { createHash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { toolKey } from "../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "../registry/discovered-tool.ts";
import { groupBy } from "../text/group-by.ts";
import { createTurns } from "../text/turns.ts";
import { findTools, type KnownTool } from "./find-tools.ts";
import { createToolIndex } from "./tool-index.ts";
import type { SearchableServer, SearchableTool } from "./tool-words.ts";

export interface FoundTool {
  readonly tool: DiscoveredMCPTool;
  readonly score: number;
}

export interface ToolSearch {
  /** The best tools, best first. Several queries take turns. */
  readonly find: (queries: readonly string[], limit: number) => Promise<readonly FoundTool[]>;
}

export interface ToolSearchOptions {
  /** All tools. Returns the same array as long as no tool changes. */
  readonly tools: () => readonly DiscoveredMCPTool[];
  readonly aboutServer: (name: string) => SearchableServer;
}

export function createToolSearch({ tools, aboutServer }: ToolSearchOptions): ToolSearch {
  const index = createToolIndex();
  const digests = new Map<string, string>();
  let indexed: readonly DiscoveredMCPTool[] = [];
  let byName = new Map<string, readonly KnownTool[]>();
  /** The tools as they are now: an unchanged server keeps the words of its former tools. */
  let current = new Map<string, DiscoveredMCPTool>();
  let updating: Promise<void> | undefined;

  async function update(): Promise<void> {
    const latest = tools();
    if (latest === indexed) return;
    const byServer = groupBy(latest, ({ serverName }) => serverName);
    for (const server of [...digests.keys()].filter((name) => !byServer.has(name))) {
      digests.delete(server);
      await index.remove(server);
    }
    for (const [server, ofServer] of byServer) {
      const about = aboutServer(server);
      const digest = await digestOf(about, ofServer);
      if (digests.get(server) === digest) continue;
      await index.set(about, ofServer.map(toSearchable));
      digests.set(server, digest);
    }
    current = new Map(latest.map((tool) => [toolKey(tool.serverName, tool.serverToolName), tool]));
    byName = namesOf(latest);
    indexed = latest;
  }

  return {
    async find(queries, limit) {
      updating ??= update().finally(() => (updating = undefined));
      await updating;
      const found = findTools(queries, { index, named: (name) => byName.get(name.toLowerCase()) ?? [], limit });
      return found.flatMap(({ server, tool: { name }, score }) => {
        const tool = current.get(toolKey(server, name));
        return tool === undefined ? [] : [{ tool, score }];
      });
    },
  };
}

/** The tools by each of their names, in lower case. */
function namesOf(tools: readonly DiscoveredMCPTool[]): Map<string, readonly KnownTool[]> {
  const names = new Map<string, KnownTool[]>();
  for (const tool of tools) {
    const { serverName: server, serverToolName: own } = tool;
    const known = { server, tool: { name: own } };
    for (const name of new Set([tool.name, own, `${server}/${own}`, `${server}.${own}`, `${server}__${own}`])) {
      const key = name.toLowerCase();
      names.set(key, [...(names.get(key) ?? []), known]);
    }
  }
  return names;
}

function toSearchable(tool: DiscoveredMCPTool): SearchableTool {
  const { serverToolName: name, title, description } = tool;
  return { name, title, description, inputSchema: schemaOf(tool) };
}

function schemaOf({ parameterSchemaJson }: DiscoveredMCPTool): JsonObject | undefined {
  return isObject(parameterSchemaJson) ? parameterSchemaJson : undefined;
}

/** Changes with everything that the index reads. */
async function digestOf(about: SearchableServer, tools: readonly DiscoveredMCPTool[]): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(about));
  const turns = createTurns();
  for (const tool of tools) {
    const text = JSON.stringify([tool.serverToolName, tool.title, tool.description, tool.parameterSchemaJson]);
    hash.update(text);
    await turns.done(text.length);
  }
  return hash.digest("base64");
}
