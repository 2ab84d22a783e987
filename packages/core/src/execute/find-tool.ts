/** Finds the tool that a call names among the tools that the server lists and the settings do not hide. */

import type { CatalogTool } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";

/**
 * Returns the tool.
 *
 * @throws HostError `denied` if a filter hides it, `tool_unknown`
 */
export function findTool(
  { name: serverName, filteredCatalog }: Pick<McpClient, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool {
  const tools = filteredCatalog?.catalog.tools ?? [];
  const found = tools.find(({ name }) => name === tool);
  if (found) return found;
  const setting = filteredCatalog?.hidden.get(tool);
  if (setting !== undefined)
    throw new HostError(
      "denied",
      `${serverName}.${tool} denied: ${setting} of "${serverName}" in the settings excludes it`,
      {
        serverName,
        next: `Change ${setting} of "${serverName}" in the settings.`,
      },
    );
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}
