/** Searches the tools of a host. Leaves out tools that the rules deny. */

import type { ToolIdentity } from "../../policy/decide.ts";
import type { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import type { FoundTool, ToolSearch } from "../../search/tool-search.ts";
import { createTurns } from "../../text/turns.ts";
import type { TurnHost } from "../../turn/turn-host.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { Host } from "../types.ts";

/** The catalogs and rules that a search uses. */
export interface HostSearchOptions {
  readonly catalogs: Pick<Catalogs, "tools" | "catalog">;
  readonly isMeantByAll: (server: string) => boolean;
  readonly isDenied: (tool: ToolIdentity) => boolean;
  readonly deniedTo: Host["deniedTo"];
}

/** The tool search of a host: `find` for conversations, `searchTools` for programs and gateways. */
export interface HostSearch {
  readonly find: TurnHost["searchTools"];
  readonly searchTools: Host["searchTools"];
}

const usualLimit = 10;
/** The search asks for this many more tools than requested, because denied and quarantined tools are then removed. */
const spare = 200;

/** Creates the search. The first search builds the index. */
export function createHostSearch({ catalogs, isMeantByAll, isDenied, deniedTo }: HostSearchOptions): HostSearch {
  let search: Promise<ToolSearch> | undefined;

  async function load(): Promise<ToolSearch> {
    const { createToolSearch } = await import("../../search/tool-search.ts");
    return createToolSearch({
      async tools() {
        await catalogs.tools.ready();
        return catalogs.tools.getEveryTool();
      },
      aboutServer: (name) => ({ name, instructions: catalogs.catalog(name)?.instructions }),
    });
  }

  async function find(
    queries: readonly string[],
    limit: number,
    isWanted: (tool: DiscoveredMCPTool) => boolean,
    isHidden = isDenied,
  ): Promise<readonly FoundTool[]> {
    search ??= load();
    const { find: rank } = await search;
    // `quarantine` comes last: reading it compiles the tool's schema, which takes longer than the search.
    const isFound = ({ tool }: FoundTool): boolean =>
      isWanted(tool) && !isHidden(tool) && tool.quarantine === undefined;
    const most = limit + spare;
    const ranked = await rank(queries, most);
    const found = await firstOf(ranked, limit, isFound);
    if (found.length === limit || ranked.length < most) return found;
    return firstOf(await rank(queries, Number.POSITIVE_INFINITY), limit, isFound);
  }

  return {
    find: (queries, limit, isWanted) => find(queries, limit, isWanted),
    async searchTools(query, { limit = usualLimit, client, isOffered = () => true } = {}) {
      const isHidden = client === undefined ? isDenied : await deniedTo({ name: client });
      const queries = typeof query === "string" ? [query] : query;
      const isWanted = (tool: DiscoveredMCPTool): boolean => isMeantByAll(tool.serverName) && isOffered(tool);
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

/** How many tools are checked before other code may run (a few milliseconds). */
const checkedPerTurn = 200;

/** The first `most` tools that meet the condition. Pauses in between, so that other code can run. */
async function firstOf(
  tools: readonly FoundTool[],
  most: number,
  holds: (found: FoundTool) => boolean,
): Promise<readonly FoundTool[]> {
  const turns = createTurns(checkedPerTurn);
  const first: FoundTool[] = [];
  for (const tool of tools) {
    if (first.length >= most) break;
    if (holds(tool)) first.push(tool);
    await turns.done(1);
  }
  return first;
}
