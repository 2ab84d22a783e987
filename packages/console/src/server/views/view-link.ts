/** Which connection of a server has its views, and which tool has which view. */

import type { OpenedHost } from "@fairlead/core/host";
import { type Connection, uiExtension, viewAddressesOf, viewsDeclared } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";

/** How the console reaches a server, so that the server knows that its views are shown. */
export interface ViewLink {
  /** Default: the connection that all programs share. */
  readonly connection?: Connection;
  /** What a server with the modern protocol is told with each request. */
  readonly capabilities?: JsonObject;
}

/** A tool with a view. */
export interface ToolWithView {
  readonly uri: string;
  /** The tool as its server lists it. */
  readonly tool: JsonObject;
  readonly connection: Connection | undefined;
}

/**
 * Returns how the console's requests reach a server. A modern server learns of views with each request. A legacy server
 * learns of them only when it is connected, and most show their views to everybody. So another connection is opened only
 * to one that speaks of views itself, or whose views the user has switched on: it is the connection that the gateway's
 * clients with views share.
 */
export function viewLink(host: OpenedHost, name: string): ViewLink {
  const server = host.gateway.servers.find(name);
  const { definition, shared } = server ?? {};
  if (server === undefined || shared === undefined || definition?.extras.views === "off") return {};
  const link = { capabilities: viewsDeclared };
  const { declare, views = false } = host.gateway.servers.context.options;
  const facts = server.facts();
  if (views || declare === undefined || definition === undefined || facts?.era !== "legacy") return link;
  const speaksOfViews = isObject(objectOf(facts.capabilities["extensions"])[uiExtension]);
  if (definition.extras.views !== "on" && !speaksOfViews) return link;
  return { ...link, connection: server.sharedWith({ sampling: false, ...viewsDeclared }, shared) };
}

/** Resolves when a server that lists its views only to programs that show views has listed them, or cannot. */
export async function viewsListed(host: OpenedHost, name: string, signal: AbortSignal): Promise<void> {
  const { connection } = viewLink(host, name);
  if (connection === undefined) return;
  const server = host.gateway.servers.get(name);
  // The result is there without its view, too.
  await server.ready(signal, connection).catch(() => undefined);
}

/** Finds the view of a tool. Undefined if the tool has none, or the user has switched the server's views off. */
export function toolWithView(host: OpenedHost, name: string, tool: string): ToolWithView | undefined {
  const server = host.gateway.servers.find(name);
  if (server === undefined || server.definition?.extras.views === "off") return undefined;
  for (const connection of [viewLink(host, name).connection, undefined]) {
    const listed = server.listedBy(connection).toolOf(tool);
    const [uri] = listed === undefined ? [] : viewAddressesOf(listed);
    if (listed !== undefined && uri !== undefined) return { uri, tool: { ...listed }, connection };
  }
  return undefined;
}
