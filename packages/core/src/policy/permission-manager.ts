/** A gate for programs that build their tools by hand: which tools of a server may be used, and which on none. It asks nobody. */

/** What is looked at in a `DiscoveredMCPTool`. Tools go by the server's own names for them. */
export interface GatedTool {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly trust?: boolean | undefined;
}

/**
 * Decides which tools may be used at all, for programs that build their tools by hand. It is a gate: it never asks for
 * confirmation.
 *
 * @example
 * ```ts
 * const permissions = new MCPPermissionManager();
 * permissions.setServerPermissions("files", ["read"]);
 * permissions.isToolAllowed({ serverName: "files", serverToolName: "write" }); // false
 * ```
 */
export class MCPPermissionManager {
  readonly #permitted = new Map<string, ReadonlySet<string>>();
  readonly #denied = new Set<string>();

  /** From now on these tools of the server, and no others. */
  setServerPermissions(serverName: string, allowedTools: readonly string[]): void {
    this.#permitted.set(serverName, new Set(allowedTools));
  }

  /** On every server, whatever its permissions say. */
  denyToolGlobally(toolName: string): void {
    this.#denied.add(toolName);
  }

  /** A server without permissions has those tools that are trusted. */
  isToolAllowed({ serverName, serverToolName, trust = false }: GatedTool): boolean {
    if (this.#denied.has(serverToolName)) return false;
    return this.#permitted.get(serverName)?.has(serverToolName) ?? trust;
  }

  /** The tool itself, or null if it may not be used. */
  createSecureTool<T extends GatedTool>(tool: T): T | null {
    return this.isToolAllowed(tool) ? tool : null;
  }
}
