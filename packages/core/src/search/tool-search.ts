/** Searches the tools of a host. The index is built at the first search and kept up to date with the registry. */

import { createHash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { toolKey } from "../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "../registry/discovered-tool.ts";
import { groupBy } from "../text/group-by.ts";
import { createTurns, type Turns } from "../text/turns.ts";
import { findTools, type KnownTool } from "./find-tools.ts";
import { createToolIndex } from "./tool-index.ts";
import type { SearchableServer, SearchableTool } from "./tool-words.ts";

export interface FoundTool {
  readonly tool: DiscoveredMCPTool;
  readonly score: number;
}

export interface ToolSearch {
  /** The matching tools, best first. Results of several queries alternate. */
  readonly find: (queries: readonly string[], limit: number) => Promise<readonly FoundTool[]>;
}

export interface ToolSearchOptions {
  /** All tools. Returns the same array until a tool changes. */
  readonly tools: () => Promise<readonly DiscoveredMCPTool[]>;
  readonly aboutServer: (name: string) => SearchableServer;
}

export function createToolSearch({ tools, aboutServer }: ToolSearchOptions): ToolSearch {
  const index = createToolIndex();
  const digests = new Map<string, string>();
  let indexed: readonly DiscoveredMCPTool[] = [];
  let byName: ReadonlyMap<string, readonly KnownTool[]> = new Map();
  /** Updates the index to the current tools. The indexed words of an unchanged server are kept. */
  let current: ReadonlyMap<string, DiscoveredMCPTool> = new Map();
  let updating: Promise<void> | undefined;

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
    ({ byName, byKey: current } = await mapsOf(latest));
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

const toolsPerTurn = 500;

interface ToolMaps {
  /** The tools by name, in lower case. A tool has several names. */
  readonly byName: ReadonlyMap<string, readonly KnownTool[]>;
  readonly byKey: ReadonlyMap<string, DiscoveredMCPTool>;
}

async function mapsOf(tools: readonly DiscoveredMCPTool[]): Promise<ToolMaps> {
  const byName = new Map<string, KnownTool[]>();
  const byKey = new Map<string, DiscoveredMCPTool>();
  const turns = createTurns(toolsPerTurn);
  for (const tool of tools) {
    const { serverName: server, serverToolName: own } = tool;
    const known = { server, tool: { name: own } };
    byKey.set(toolKey(server, own), tool);
    for (const name of new Set([tool.name, own, `${server}/${own}`, `${server}.${own}`, `${server}__${own}`])) {
      const key = name.toLowerCase();
      const others = byName.get(key);
      if (others === undefined) byName.set(key, [known]);
      else others.push(known);
    }
    await turns.done(1);
  }
  return { byName, byKey };
}

function toSearchable(tool: DiscoveredMCPTool): SearchableTool {
  const { serverToolName: name, title, description } = tool;
  return { name, title, description, inputSchema: schemaOf(tool) };
}

function schemaOf({ parameterSchemaJson }: DiscoveredMCPTool): JsonObject | undefined {
  return isObject(parameterSchemaJson) ? parameterSchemaJson : undefined;
}

/** A digest of everything that the index reads about a server. */
async function digestOf(about: SearchableServer, tools: readonly DiscoveredMCPTool[], turns: Turns): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(about));
  for (const tool of tools) {
    const text = JSON.stringify([tool.serverToolName, tool.title, tool.description, tool.parameterSchemaJson]);
    hash.update(text);
    await turns.done(text.length);
  }
  return hash.digest("base64");
}
