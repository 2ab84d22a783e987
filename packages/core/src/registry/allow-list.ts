/** The user's answers "always", for programs that use `DiscoveredMCPTool` without a host. */

import type { CallableTool } from "../normalise/model-types.ts";

/** Approvals of whole servers and of single tools. */
export interface AllowList {
  allows(server: string, tool: string): boolean;
  addServer(server: string): void;
  addTool(server: string, tool: string): void;
}

/**
 * Returns the approvals for the tools of this `CallableTool`. An approval of a whole server applies to all tools of the
 * same connection, but not to another server with the same name.
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

/** Approvals by `CallableTool`. They are freed together with the `CallableTool`. */
const ofCallable = new WeakMap<CallableTool, AllowList>();

/**
 * Creates an empty list of approvals. Give the list to several `DiscoveredMCPTool`s to share approvals between them.
 */
export function createAllowList(): AllowList {
  const servers = new Set<string>();
  // Nested maps, because a joined key would be ambiguous: server "a.b" with tool "c", or server "a" with tool "b.c".
  const tools = new Map<string, Set<string>>();
  return {
    allows: (server, tool) => servers.has(server) || (tools.get(server)?.has(tool) ?? false),
    addServer: (server) => void servers.add(server),
    addTool: (server, tool) => void tools.set(server, (tools.get(server) ?? new Set()).add(tool)),
  };
}
