/** Searches the tools of a host. Leaves out tools that the rules deny. */

import type { FoundTool, ToolSearch } from "../search/tool-search.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import type { RunningHost } from "./running-host.ts";
import type { Host } from "./types.ts";

/** The tool search of a host. */
export interface HostSearch {
  /** Finds tools that match the queries and that no rule denies. The best match comes first. */
  readonly find: (
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
  ) => Promise<readonly FoundTool[]>;
  /** The same for programs and gateways. */
  readonly searchTools: Host["searchTools"];
}

const usualLimit = 10;

/** Creates the search. The first search builds the index. */
export function createHostSearch({
  registries,
  servers,
  policy: { isDenied, deniedTo },
}: Pick<RunningHost, "registries" | "servers" | "policy">): HostSearch {
  let search: Promise<ToolSearch> | undefined;

  async function load(): Promise<ToolSearch> {
    const loaded = await import("../search/tool-search.ts");
    return new loaded.ToolSearch(
      async () => {
        const { tools } = registries;
        await tools.ready();
        return tools.getEveryTool();
      },
      (name) => ({ name, instructions: servers.find(name)?.catalog?.catalog.instructions }),
    );
  }

  async function find(
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
    isHidden = isDenied,
  ): Promise<readonly FoundTool[]> {
    search ??= load();
    // `quarantine` comes last: reading it compiles the tool's schema, which takes longer than the search.
    return (await search).find(
      queries,
      limit,
      (tool) => isWanted(tool) && !isHidden(tool) && tool.quarantine === undefined,
    );
  }

  return {
    find: (queries, limit, isWanted) => find(queries, limit, isWanted),
    async searchTools(query, { limit = usualLimit, client, isOffered = () => true } = {}) {
      const isHidden = client === undefined ? isDenied : await deniedTo({ name: client });
      const queries = typeof query === "string" ? [query] : query;
      const isWanted = (tool: RegisteredTool): boolean => servers.isMeantByAll(tool.serverName) && isOffered(tool);
      const found = await find(queries, limit, isWanted, isHidden);
      return found.map(({ tool: { name, serverName: server, serverToolName: tool, description }, score }) => ({
        server,
        tool,
        name,
        description,
        score,
      }));
    },
  };
}
