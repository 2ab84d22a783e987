/** Searches the tools of a host. Leaves out tools that the rules deny. */

import { once } from "../files/once.ts";
import type { FoundTool, ToolSearch } from "../search/tool-search.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import type { RunningHost } from "./running-host.ts";
import type { Host } from "./types.ts";

const usualLimit = 10;

/** The tool search of a host. The first search builds the index. */
export class HostSearch {
  readonly #host: Pick<RunningHost, "registries" | "servers" | "policy">;
  readonly #search: () => Promise<ToolSearch>;

  constructor(host: Pick<RunningHost, "registries" | "servers" | "policy">) {
    this.#host = host;
    this.#search = once(async () => {
      const { ToolSearch: Search } = await import("../search/tool-search.ts");
      const { registries, servers } = host;
      return new Search(
        async () => {
          await registries.tools.ready();
          return registries.tools.getEveryTool();
        },
        (name) => ({ name, instructions: servers.find(name)?.catalog?.catalog.instructions }),
      );
    });
  }

  /** Finds tools that match the queries and that no rule denies. The best match comes first. */
  async find(
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
    isHidden: (tool: RegisteredTool) => boolean = this.#host.policy.isDenied,
  ): Promise<readonly FoundTool[]> {
    const search = await this.#search();
    // `quarantine` comes last: reading it compiles the tool's schema, which takes longer than the search.
    return search.find(queries, limit, (tool) => isWanted(tool) && !isHidden(tool) && tool.quarantine === undefined);
  }

  /** The same for programs and gateways. */
  readonly searchTools: Host["searchTools"] = async (
    query,
    { limit = usualLimit, client, isOffered = () => true } = {},
  ) => {
    const { servers, policy } = this.#host;
    const isHidden = client === undefined ? policy.isDenied : await policy.deniedTo({ name: client });
    const queries = typeof query === "string" ? [query] : query;
    const isWanted = (tool: RegisteredTool): boolean => servers.isMeantByAll(tool.serverName) && isOffered(tool);
    const found = await this.find(queries, limit, isWanted, isHidden);
    return found.map(({ tool: { name, serverName: server, serverToolName: tool, description }, score }) => ({
      server,
      tool,
      name,
      description,
      score,
    }));
  };
}
