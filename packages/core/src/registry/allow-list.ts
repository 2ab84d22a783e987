/** What a person has allowed for good: whole servers and single tools, each as data. */

export interface AllowList {
  allows(server: string, tool: string): boolean;
  addServer(server: string): void;
  addTool(server: string, tool: string): void;
}

export function createAllowList(): AllowList {
  const servers = new Set<string>();
  // Never one text of both: "a.b" with "c" must not be "a" with "b.c".
  const tools = new Map<string, Set<string>>();
  return {
    allows: (server, tool) => servers.has(server) || (tools.get(server)?.has(tool) ?? false),
    addServer: (server) => void servers.add(server),
    addTool: (server, tool) => void tools.set(server, (tools.get(server) ?? new Set()).add(tool)),
  };
}
