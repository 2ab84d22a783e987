/** The listed tools of a few servers and their accepted definitions, without connections. */

import type { ToolDefinitions, ToolIdentity } from "../../src/policy/decide.ts";
import { AcceptedTools, type ListedTools, noLock, type ServerLock } from "../../src/server/accepted-tools.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";

export interface ListedServers extends ToolDefinitions {
  /** The server lists these tools now. */
  readonly see: (server: string, tools: readonly CatalogTool[]) => void;
  readonly accept: (tool: ToolIdentity) => void;
  readonly forget: (server: string) => void;
}

export function listedServers(lockOf: (server: string) => ServerLock = () => noLock): ListedServers {
  const servers = new Map<string, { readonly accepted: AcceptedTools; listed: ListedTools }>();
  const listedOf = ({ serverName }: ToolIdentity): ListedTools | undefined => servers.get(serverName)?.listed;
  return {
    see(server, tools) {
      const known = servers.get(server);
      const accepted = known?.accepted ?? new AcceptedTools(() => lockOf(server));
      servers.set(server, { accepted, listed: accepted.list(tools, { isNew: true, before: known?.listed }) });
    },
    accept: (tool) => listedOf(tool)?.accept(tool.serverToolName),
    forget: (server) => void servers.delete(server),
    toolOf: (tool) => listedOf(tool)?.toolOf(tool.serverToolName),
    toolsOf: (server) => servers.get(server)?.listed.tools() ?? [],
    changeOf: (tool) => listedOf(tool)?.changeOf(tool.serverToolName),
    promptChangeOf({ serverName, serverToolName }) {
      const drift = lockOf(serverName).promptDrift(serverToolName);
      return drift && { difference: () => drift };
    },
    flagsOf: () => [],
    sandboxOf: () => undefined,
    skillOf: () => undefined,
    sharesName: () => false,
    isSkillLockedOut: () => false,
    skillChangeOf: () => undefined,
    toolsWithView: () => [],
    viewChangeOf: () => undefined,
    isLockedOut: (tool) => listedOf(tool)?.isLockedOut(tool.serverToolName) ?? false,
  };
}
