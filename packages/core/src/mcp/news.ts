/** Turns notifications of a server into host events. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { ListName, ServerNews } from "../events.ts";

const changes: ReadonlyMap<string, ListName> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/prompts/list_changed", "prompts"],
  ["notifications/resources/list_changed", "resources"],
]);

/** The list that a notification is about, if it is a `list_changed` notification. */
export function changedList(method: string): ListName | undefined {
  return changes.get(method);
}

/** The event for a notification; undefined for unknown ones. */
export function toNews(server: string, method: string, params: JsonObject): ServerNews | undefined {
  const list = changedList(method);
  if (list !== undefined) return { type: "list_changed", server, list };
  const { level, logger, data = null, uri } = params;
  if (method === "notifications/message")
    return {
      type: "log",
      server,
      level: typeof level === "string" ? level : "info",
      ...(typeof logger === "string" && { logger }),
      data,
    };
  if (method === "notifications/resources/updated" && typeof uri === "string")
    return { type: "resource_updated", server, uri };
  return undefined;
}
