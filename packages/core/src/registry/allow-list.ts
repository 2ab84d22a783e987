/** What a person has allowed for good: whole servers and single tools, each as data. */

import type { CallableTool } from "../normalise/model-types.ts";

/** Approvals of whole servers and of single tools. */
export interface AllowList {
  allows(server: string, tool: string): boolean;
  addServer(server: string): void;
  addTool(server: string, tool: string): void;
}

/**
 * The list that tools of one `CallableTool` share unless they are given another: an answer for a whole server counts for
 * all tools that are built from the same connection, and for no other server that happens to have the same name.
 */
export function allowListOf(callable: CallableTool | undefined): AllowList {
  if (callable === undefined) return createAllowList();
  const list = ofCallable.get(callable) ?? createAllowList();
  ofCallable.set(callable, list);
  return list;
}

/** Belongs to each callable, and goes with it. */
const ofCallable = new WeakMap<CallableTool, AllowList>();

/** An empty list. Give the same one to several `DiscoveredMCPTool`s to share approvals between them. */
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
