/** Tool search of one host: over all tools that policy does not hide. Loaded with the first search. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { ToolSearch } from "../../search/tool-search.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { SearchedTool } from "../types.ts";

export interface HostSearchOptions {
  readonly catalogs: Pick<Catalogs, "tools" | "catalog">;
  readonly isMeantByAll: (server: string) => boolean;
  readonly isDenied: (tool: ToolIdentity) => boolean;
}

export interface HostSearch extends ToolSearch {
  readonly searchTools: (
    query: string | readonly string[],
    options?: { readonly limit?: number },
  ) => Promise<readonly SearchedTool[]>;
}

const usualLimit = 10;
/** Tools that are left out afterwards must not leave the answer short. */
const spare = 200;

export function createHostSearch({ catalogs, isMeantByAll, isDenied }: HostSearchOptions): HostSearch {
  let search: Promise<ToolSearch> | undefined;

  async function load(): Promise<ToolSearch> {
    const { createToolSearch } = await import("../../search/tool-search.ts");
    return createToolSearch({
      tools: () => catalogs.tools.getEveryTool(),
      aboutServer: (name) => ({ name, instructions: catalogs.catalog(name)?.instructions }),
    });
  }

  async function find(queries: readonly string[], limit: number) {
    search ??= load();
    const found = await (await search).find(queries, limit + spare);
    return found.filter(({ tool }) => tool.quarantine === undefined && !isDenied(tool)).slice(0, limit);
  }

  return {
    find,
    async searchTools(query, { limit = usualLimit } = {}) {
      const found = await find(typeof query === "string" ? [query] : query, limit + spare);
      return found
        .filter(({ tool }) => isMeantByAll(tool.serverName))
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
