/** Tool search of one host: over all tools that policy does not hide. Loaded with the first search. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { ToolSearch } from "../../search/tool-search.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { Host } from "../types.ts";

export interface HostSearchOptions {
  readonly catalogs: Pick<Catalogs, "tools" | "catalog">;
  readonly isMeantByAll: (server: string) => boolean;
  readonly isDenied: (tool: ToolIdentity) => boolean;
  readonly deniedTo: Host["deniedTo"];
}

export interface HostSearch extends ToolSearch {
  readonly searchTools: Host["searchTools"];
}

const usualLimit = 10;
/** Tools that are left out afterwards must not leave the answer short. */
const spare = 200;

export function createHostSearch({ catalogs, isMeantByAll, isDenied, deniedTo }: HostSearchOptions): HostSearch {
  let search: Promise<ToolSearch> | undefined;

  async function load(): Promise<ToolSearch> {
    const { createToolSearch } = await import("../../search/tool-search.ts");
    return createToolSearch({
      tools: () => catalogs.tools.getEveryTool(),
      aboutServer: (name) => ({ name, instructions: catalogs.catalog(name)?.instructions }),
    });
  }

  async function find(queries: readonly string[], limit: number, isHidden = isDenied) {
    search ??= load();
    const found = await (await search).find(queries, limit + spare);
    return found.filter(({ tool }) => tool.quarantine === undefined && !isHidden(tool)).slice(0, limit);
  }

  return {
    find: (queries, limit) => find(queries, limit),
    async searchTools(query, { limit = usualLimit, client, isOffered = () => true } = {}) {
      const isHidden = client === undefined ? isDenied : await deniedTo({ name: client });
      const found = await find(typeof query === "string" ? [query] : query, limit + spare, isHidden);
      return found
        .filter(({ tool }) => isMeantByAll(tool.serverName) && isOffered(tool))
        .slice(0, limit)
        .map(({ tool: { name, serverName: server, serverToolName: tool, description }, score }) => ({
          server,
          tool,
          name,
          description,
          score,
        }));
    },
  };
}
