/** `ToolRegistry`: tools that a program has created or discovered itself, each under one name. */

import {
  aCount,
  aListOfStrings,
  anObject,
  expectArguments,
  optional,
  readMembers,
  type Wanted,
} from "../expect-arguments.ts";
import { RegisteredTools, type RegisteredToolsOptions } from "../server/registries.ts";
import type { Config } from "./config.ts";
import { DiscoveredMCPTool } from "./discovered-tool.ts";

const wantedOptions = {
  serverOrder: optional(aListOfStrings),
  alwaysQualified: optional(aListOfStrings),
  toolsPerServer: optional(aCount),
};
const aTool: Wanted = { words: "a DiscoveredMCPTool", accepts: (given) => given instanceof DiscoveredMCPTool };

/**
 * The tools of all servers, each under one unique name. The first tool of a name keeps it; a later one is
 * `server__tool`.
 */
export class ToolRegistry extends RegisteredTools<DiscoveredMCPTool> {
  /** @param options Gemini CLI passes its configuration, which is accepted and has no effect. */
  constructor(options: RegisteredToolsOptions | Config = {}) {
    const call = "new ToolRegistry()";
    expectArguments(call, { options: [options, anObject] });
    super("isTrustedFolder" in options ? {} : readMembers(call, options, wantedOptions, "options."));
  }

  override registerTool(tool: DiscoveredMCPTool): void {
    expectArguments("registerTool()", { tool: [tool, aTool] });
    super.registerTool(tool);
  }

  getAllToolNames(): string[] {
    return this.getAllTools().map(({ name }) => name);
  }

  /** Gemini CLI's name for `removeServer`. */
  removeMcpToolsByServer(serverName: string): void {
    this.removeServer(serverName);
  }
}
