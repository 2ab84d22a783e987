/** What a server comes to offer once its entry's filters are applied, or why it is of no use. Pure. */

import type { Catalog } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { CatalogCounts } from "../events.ts";
import { hiddenBy, type ToolFilter } from "../normalise/filter.ts";

/** A server's catalog after the filters of its settings entry, with the tools that the filters hide. */
export interface FilteredCatalog {
  /** Its tools are those that the filters let through. */
  readonly catalog: Catalog;
  /** The tools that they do not, and the setting that takes each out. */
  readonly hidden: ReadonlyMap<string, keyof ToolFilter>;
  readonly offer: CatalogCounts;
}

/** @deprecated The new name is `FilteredCatalog`. */
export type Offering = FilteredCatalog;

export interface CatalogFilterOptions {
  readonly serverName: string;
  readonly filter: ToolFilter;
  /** The server says that it will tell when its lists change. */
  readonly mayGrow: boolean;
  /** What is to be said about lists that could not be read again. */
  readonly outdated?: readonly string[];
}

export function filterCatalog(catalog: Catalog, options: CatalogFilterOptions): FilteredCatalog {
  const { serverName, filter, mayGrow, outdated = [] } = options;
  const hidden = new Map<string, keyof ToolFilter>();
  const tools = catalog.tools.filter(({ name }) => {
    const setting = hiddenBy(name, filter);
    if (setting !== undefined) hidden.set(name, setting);
    return setting === undefined;
  });
  const { prompts, resources, resourceTemplates } = catalog;
  const isEmpty = [tools, prompts, resources, resourceTemplates].every(({ length }) => length === 0);
  if (isEmpty && !mayGrow) throw uselessError(serverName, catalog, hidden);
  const why = tools.length > 0 ? undefined : hidden.size > 0 ? filtered(hidden) : mayGrow ? "0 tools yet" : undefined;
  const notes = [...(why === undefined ? [] : [why]), ...outdated];
  return {
    catalog: { ...catalog, tools },
    hidden,
    offer: {
      tools: tools.length,
      prompts: prompts.length,
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
      ...(notes.length > 0 && { note: notes.join("; ") }),
    },
  };
}

function uselessError(serverName: string, { dropped }: Catalog, hidden: FilteredCatalog["hidden"]): HostError {
  if (hidden.size > 0)
    return new HostError("no_capabilities", `"${serverName}" offers nothing that may be used: ${filtered(hidden)}`, {
      serverName,
      next: `Change ${settings(hidden).join(" or ")} of "${serverName}" in the settings.`,
    });
  const [first] = dropped;
  const unusable = first && `; ${dropped.length} could not be used, first of all in ${first.kind}: ${first.reason}`;
  return new HostError("no_capabilities", `No prompts, tools, or resources found on the server${unusable ?? ""}`, {
    serverName,
  });
}

function filtered(hidden: FilteredCatalog["hidden"]): string {
  const names = settings(hidden);
  return `${names.join(" and ")} ${names.length === 1 ? "leaves" : "leave"} none of its ${hidden.size} tools`;
}

function settings(hidden: FilteredCatalog["hidden"]): readonly string[] {
  return [...new Set(hidden.values())].sort();
}
