import type { CallableTool } from "../normalise/model-types.ts";

/** Approvals of whole servers and of single tools. */
export interface AllowList {
  allows(server: string, tool: string): boolean;
  addServer(server: string): void;
  addTool(server: string, tool: string): void;
}

/**
 * Returns the list of approvals for the tools of this `CallableTool`. If the user approves a whole server, the approval
 * applies to all tools of this connection, but not to another server with the same name.
 */
export function allowListOf(callable: CallableTool | undefined): AllowList {
  if (callable === undefined) return createAllowList();
  const list = ofCallable.get(callable) ?? createAllowList();
  ofCallable.set(callable, list);
  return list;
}

/** Makes this `CallableTool` share the approvals of its connection. */
export function shareAllowList(callable: CallableTool, connection: object): void {
  const list = ofConnection.get(connection) ?? createAllowList();
  ofConnection.set(connection, list);
  ofCallable.set(callable, list);
}

const ofConnection = new WeakMap<object, AllowList>();

/** Lists of approvals by `CallableTool`. A list is freed together with its `CallableTool`. */
const ofCallable = new WeakMap<CallableTool, AllowList>();

/**
 * Creates an empty list of approvals. Give the list to several `DiscoveredMCPTool`s to share approvals between them.
 */
export function createAllowList(): AllowList {
  const servers = new Set<string>();
  // Nested maps, because in a joined text, server "a.b" with tool "c" would equal server "a" with tool "b.c".
  const tools = new Map<string, Set<string>>();
  return {
    allows: (server, tool) => servers.has(server) || (tools.get(server)?.has(tool) ?? false),
    addServer: (server) => void servers.add(server),
    addTool: (server, tool) => void tools.set(server, (tools.get(server) ?? new Set()).add(tool)),
  };
}
