/** Applies `includeTools` and `excludeTools` to a catalog. Pure. */

import { HostError } from "../errors.ts";
import type { CatalogCounts } from "../events.ts";
import { hiddenBy, type ToolFilter } from "../normalise/filter.ts";
import type { Catalog } from "./catalog.ts";

/** A server's catalog after filtering, and the tools that the filters hide. */
export interface FilteredCatalog {
  /** The catalog without the hidden tools. */
  readonly catalog: Catalog;
  /** The hidden tools, each with the setting that hides it. */
  readonly hidden: ReadonlyMap<string, keyof ToolFilter>;
  readonly offer: CatalogCounts;
}

/** The filters of one server, and notes about its lists. */
export interface CatalogFilterOptions {
  readonly serverName: string;
  readonly filter: ToolFilter;
  /** Whether an empty catalog is allowed, because it may get items later. */
  readonly mayGrow: boolean;
  /** Notes about lists that could not be read again. */
  readonly outdated?: readonly string[];
}

/**
 * Applies the filters to a catalog.
 *
 * @throws HostError `no_capabilities` or `too_large` if the filtered catalog is empty and `mayGrow` is false
 */
export function filterCatalog(catalog: Catalog, options: CatalogFilterOptions): FilteredCatalog {
  const { serverName, filter, mayGrow, outdated = [] } = options;
  const hidden = new Map<string, keyof ToolFilter>();
  const isFiltered = filter.includeTools !== undefined || filter.excludeTools.length > 0;
  const tools = isFiltered
    ? catalog.tools.filter(({ name }) => {
        const setting = hiddenBy(name, filter);
        if (setting !== undefined) hidden.set(name, setting);
        return setting === undefined;
      })
    : catalog.tools;
  const { prompts, resources, resourceTemplates, skills } = catalog;
  const isEmpty = [tools, prompts, resources, resourceTemplates, skills ?? []].every(({ length }) => length === 0);
  if (isEmpty && !mayGrow) throw emptyError(serverName, catalog, hidden);
  const why = tools.length > 0 ? undefined : hidden.size > 0 ? filtered(hidden) : mayGrow ? "0 tools yet" : undefined;
  const cut = catalog.truncated.flatMap(({ kind, reason, setting }) =>
    setting === undefined ? [] : `the list of ${kind} is cut: ${reason}`,
  );
  const notes = [...(why === undefined ? [] : [why]), ...cut, ...outdated];
  return {
    catalog: { ...catalog, tools },
    hidden,
    offer: {
      tools: tools.length,
      prompts: prompts.length,
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
      skills: skills?.length,
      note: notes.length > 0 ? notes.join("; ") : undefined,
    },
  };
}

function emptyError(serverName: string, { dropped, truncated }: Catalog, hidden: FilteredCatalog["hidden"]): HostError {
  if (hidden.size > 0)
    return new HostError("no_capabilities", `"${serverName}" offers nothing that can be used: ${filtered(hidden)}`, {
      serverName,
      next: `Change ${settings(hidden).join(" or ")} of "${serverName}" in settings.json.`,
    });
  const [cut] = truncated;
  if (cut)
    return new HostError("too_large", `"${serverName}" offers nothing that can be used: ${cut.reason}`, {
      serverName,
      next: cut.setting && `raise "${cut.setting}" in settings.json`,
    });
  const [first] = dropped;
  const unusable = first && `; invalid items: ${dropped.length}, the first in ${first.kind}: ${first.reason}`;
  const nothing = `"${serverName}": No prompts, tools, or resources found on the server${unusable ?? ""}`;
  return new HostError("no_capabilities", nothing, { serverName });
}

function filtered(hidden: FilteredCatalog["hidden"]): string {
  const names = settings(hidden);
  return `${names.join(" and ")} ${names.length === 1 ? "hides" : "hide"} all of its ${hidden.size} tools`;
}

function settings(hidden: FilteredCatalog["hidden"]): readonly string[] {
  return [...new Set(hidden.values())].sort();
}
