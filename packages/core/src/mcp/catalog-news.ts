/** Compares two catalogs of a server. Pure. */

import type { Catalog, ListKind } from "../discover/catalog.ts";
import { toolChanges } from "../discover/tool-changes.ts";
import type { ListName, ServerNews } from "../events.ts";
import { canonicalJson } from "../text/canonical-json.ts";

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

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return false;
  return canonicalJson(one) === canonicalJson(other);
}
