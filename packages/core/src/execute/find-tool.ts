/** Finds the tool of a call in the catalog of a connected server. */

import { HostError } from "../errors.ts";
import type { CatalogTool } from "../server/catalog.ts";
import type { Connection } from "../server/connection.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";

/**
 * Returns the listed tool.
 *
 * @throws HostError `denied` if a filter hides it, `tool_unknown` if the server does not list it
 */
export function findTool(
  { name: serverName, filteredCatalog }: Pick<Connection, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool {
  const found = findListed({ name: serverName, filteredCatalog }, tool);
  if (found) return found;
  const tools = filteredCatalog?.catalog.tools ?? [];
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}

/**
 * Returns the tool; undefined if the server does not list it.
 *
 * @throws HostError `denied` if a filter hides it
 */
export function findListed(
  { name: serverName, filteredCatalog }: Pick<Connection, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool | undefined {
  const found = toolNamed(filteredCatalog?.catalog.tools ?? [], tool);
  const setting = found === undefined ? filteredCatalog?.hidden.get(tool) : undefined;
  if (setting === undefined) return found;
  throw new HostError(
    "denied",
    `${serverName}.${tool} denied: ${setting} of "${serverName}" in the settings excludes it`,
    { serverName, next: `Change ${setting} of "${serverName}" in the settings.` },
  );
}

const indexes = new WeakMap<readonly CatalogTool[], ReadonlyMap<string, CatalogTool>>();

/** Finds a tool by name. Indexes each catalog once, so that a call need not search a long list. */
export function toolNamed(tools: readonly CatalogTool[], name: string): CatalogTool | undefined {
  let index = indexes.get(tools);
  if (index === undefined) {
    index = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    indexes.set(tools, index);
  }
  return index.get(name);
}
