/** The answers "always" of the person, for tools without a host. */

import { aString, expectArguments } from "../expect-arguments.ts";

/** Approvals of whole servers and of single tools. */
export interface AllowList {
  allows(server: string, tool: string): boolean;
  addServer(server: string): void;
  addTool(server: string, tool: string): void;
}

/** Creates an empty list of approvals. Give it to several `DiscoveredMCPTool`s to share approvals between them only. */
export function createAllowList(): AllowList {
  const servers = new Set<string>();
  // Nested maps, because a joined key would be ambiguous: server "a.b" with tool "c", or server "a" with tool "b.c".
  const tools = new Map<string, Set<string>>();
  return {
    allows(server, tool) {
      expectArguments("allows()", { server: [server, aString], tool: [tool, aString] });
      return servers.has(server) || (tools.get(server)?.has(tool) ?? false);
    },
    addServer(server) {
      expectArguments("addServer()", { server: [server, aString] });
      servers.add(server);
    },
    addTool(server, tool) {
      expectArguments("addTool()", { server: [server, aString], tool: [tool, aString] });
      tools.set(server, (tools.get(server) ?? new Set()).add(tool));
    },
  };
}

/** The approvals of the process: Gemini CLI shares them between all tools with the same names of server and tool. */
export const processAllowList: AllowList = createAllowList();
