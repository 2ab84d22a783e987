/** Turns a server's notifications, and differences between two catalogs, into host events. */

import type { JsonObject } from "@fairlead/wire";
import type { ListName, ServerNews } from "../events.ts";
import { isSameJson } from "../text/same-json.ts";
import type { Catalog, ListKind } from "./catalog.ts";
import { toolChanges } from "./tool-changes.ts";

const changes: ReadonlyMap<string, ListName> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/prompts/list_changed", "prompts"],
  ["notifications/resources/list_changed", "resources"],
]);

/** The list that a `list_changed` notification reports; undefined for other notifications. */
export function changedList(method: string): ListName | undefined {
  return changes.get(method);
}

/** The event for a notification; undefined for an unknown notification. */
export function toNews(server: string, method: string, params: JsonObject): ServerNews | undefined {
  const list = changedList(method);
  if (list !== undefined) return { type: "list_changed", server, list };
  const { level, logger, data = null, uri } = params;
  if (method === "notifications/message")
    return {
      type: "log",
      server,
      level: typeof level === "string" ? level : "info",
      logger: typeof logger === "string" ? logger : undefined,
      data,
    };
  if (method === "notifications/resources/updated" && typeof uri === "string")
    return { type: "resource_updated", server, uri };
  return undefined;
}

/**
 * The catalog lists that Fairlead reads again, by the list that changed (`resources` also covers resource templates).
 */
export const kindsOf: Readonly<Record<ListName, readonly ListKind[]>> = {
  tools: ["tools"],
  prompts: ["prompts"],
  // The files of skills are resources, and skills have no notification of their own.
  resources: ["resources", "resourceTemplates", "skills"],
};

/**
 * The event for changed lists; undefined if nothing changed. If `before` is undefined, every item counts as new.
 *
 * @param isShown Whether the registries show `before`. If not, each list with items has changed for their readers.
 */
export function catalogNews(
  server: string,
  before: Catalog | undefined,
  after: Catalog,
  isShown = true,
): ServerNews | undefined {
  const lists = (["tools", "prompts", "resources"] as const).filter((list) =>
    kindsOf[list].some((kind) => !isSame((isShown && before?.[kind]) || [], after[kind] ?? [])),
  );
  return lists.length === 0
    ? undefined
    : { type: "catalog", server, lists, tools: toolChanges(before?.tools ?? [], after.tools) };
}

/** Compares item by item, because the JSON text of a whole list may take a hundred megabytes. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
}
