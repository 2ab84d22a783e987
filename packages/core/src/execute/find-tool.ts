/** The tool that a call names, if the server offers it and the settings let it through. */

import type { CatalogTool } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";

export function findTool(
  { name: serverName, offering }: Pick<McpClient, "name" | "offering">,
  tool: string,
): CatalogTool {
  const tools = offering?.catalog.tools ?? [];
  const found = tools.find(({ name }) => name === tool);
  if (found) return found;
  const setting = offering?.hidden.get(tool);
  if (setting !== undefined)
    throw new HostError("denied", `${setting} of "${serverName}" in the settings leaves the tool "${tool}" out`, {
      serverName,
      next: `Change ${setting} of "${serverName}" in the settings.`,
    });
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}
