/** The user or machine that sends a request to the gateway of a team, and what it may do. */

import type { Owner } from "../store/owner.ts";

/**
 * What a person may do besides using servers. `approver` answers the questions of other users, `auditor` reads the
 * history of all users, `operator` sees and drains replicas, `admin` pushes policy and makes API keys.
 */
export type Role = "user" | "approver" | "auditor" | "operator" | "admin";

export const roles: readonly Role[] = ["user", "approver", "auditor", "operator", "admin"];

/** `mcp:call` includes `mcp:read`, and `mcp:admin` includes both. */
export type GrantedScope = "mcp:read" | "mcp:call" | "mcp:admin";

export const scopes: readonly GrantedScope[] = ["mcp:read", "mcp:call", "mcp:admin"];

export interface Caller {
  readonly owner: Owner;
  /** Sorted. */
  readonly groups: readonly string[];
  readonly roles: ReadonlySet<Role>;
  readonly scope: GrantedScope | undefined;
  /** The program that sends the requests: the OAuth client, or the name of an API key. */
  readonly client: string;
}

/** The widest of the granted scopes. */
export function widestScope(granted: readonly string[]): GrantedScope | undefined {
  return scopes.findLast((scope) => granted.includes(scope));
}

/** Whether a granted scope includes a needed one. */
export function includesScope(granted: GrantedScope | undefined, needed: GrantedScope): boolean {
  return granted !== undefined && scopes.indexOf(granted) >= scopes.indexOf(needed);
}

/** The scope that an MCP method needs. Only calls of tools have effects. */
export function scopeOf(method: string): GrantedScope {
  return method === "tools/call" || method.startsWith("tasks/") ? "mcp:call" : "mcp:read";
}
