/** Compares two catalogs of a server. Pure. */

import type { Catalog, ListKind } from "../discover/catalog.ts";
import { toolChanges } from "../discover/tool-changes.ts";
import type { ListName, ServerNews } from "../events.ts";
import { isSameJson } from "../text/same-json.ts";

/** Lists that a change notification is about: "resources" also means resource templates. */
export const kindsOf: Readonly<Record<ListName, readonly ListKind[]>> = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "resourceTemplates"],
};

/** The event for changed lists; undefined if nothing changed. Without `before`, everything is new. */
export function catalogNews(server: string, before: Catalog | undefined, after: Catalog): ServerNews | undefined {
  const lists = (["tools", "prompts", "resources"] as const).filter((list) =>
    kindsOf[list].some((kind) => !isSame(before?.[kind] ?? [], after[kind])),
  );
  return lists.length === 0
    ? undefined
    : { type: "catalog", server, lists, tools: toolChanges(before?.tools ?? [], after.tools) };
}

/** Compares item by item, because the text of a whole list may take a hundred megabytes. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
}
