/** `MCPPermissionManager`: which tools a program may use at all. */

import {
  aBoolean,
  aListOfStrings,
  anObject,
  aString,
  expectArguments,
  optional,
  readMembers,
} from "../expect-arguments.ts";

/**
 * The members of a `DiscoveredMCPTool` that `MCPPermissionManager` reads. `serverToolName` is the tool's name on the
 * server.
 */
export interface GatedTool {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly trust?: boolean | undefined;
}

const wantedMembers = { serverName: aString, serverToolName: aString, trust: optional(aBoolean) };

/**
 * Decides which tools may be used at all, for programs that build their tools by hand. It only allows or denies, and
 * never asks for confirmation.
 *
 * @example
 * ```ts
 * import { MCPPermissionManager } from "@fairlead/core/gemini";
 *
 * const permissions = new MCPPermissionManager();
 * permissions.setServerPermissions("files", ["read"]);
 * permissions.isToolAllowed({ serverName: "files", serverToolName: "write" }); // false
 * ```
 */
export class MCPPermissionManager {
  readonly #permitted = new Map<string, ReadonlySet<string>>();
  readonly #denied = new Set<string>();

  /** Allows these tools of the server, and denies all others. */
  setServerPermissions(serverName: string, allowedTools: readonly string[]): void {
    expectArguments("setServerPermissions()", {
      serverName: [serverName, aString],
      allowedTools: [allowedTools, aListOfStrings],
    });
    this.#permitted.set(serverName, new Set(allowedTools));
  }

  /** Denies the tool on every server, even if the server's permissions allow it. */
  denyToolGlobally(toolName: string): void {
    expectArguments("denyToolGlobally()", { toolName: [toolName, aString] });
    this.#denied.add(toolName);
  }

  /** Whether the tool may be used. If no permissions are set for its server, only trusted tools may be used. */
  isToolAllowed(tool: GatedTool): boolean {
    const call = "isToolAllowed()";
    expectArguments(call, { tool: [tool, anObject] });
    const { serverName, serverToolName, trust = false } = readMembers(call, tool, wantedMembers, "tool.");
    if (this.#denied.has(serverToolName)) return false;
    return this.#permitted.get(serverName)?.has(serverToolName) ?? trust;
  }

  /** Returns the tool if it is allowed, otherwise null. */
  createSecureTool<T extends GatedTool>(tool: T): T | null {
    return this.isToolAllowed(tool) ? tool : null;
  }
}
