/** The tools, prompts and resources that one client sees, and the server that each of them belongs to. */

import { demoName } from "@fairlead/core/demo/name";
import type { Catalog } from "@fairlead/core/discover/catalog";
import type { Host } from "@fairlead/core/host/types";
import { matchesTemplate } from "@fairlead/core/resources/templates/uri-template";
import type { JsonObject } from "@fairlead/wire";
import type { GatewayClient } from "../gateway-client.ts";

/** A tool or a prompt at its server: the server's name, and the server's own name of it. */
export interface Place {
  readonly server: string;
  readonly name: string;
}

/** What the lists hold, by the names that the client uses. */
export interface ClientView {
  readonly tools: ReadonlyMap<string, Place & { readonly definition: JsonObject }>;
  readonly prompts: ReadonlyMap<string, Place & { readonly definition: JsonObject }>;
  readonly resources: ReadonlyMap<string, { readonly server: string; readonly definition: JsonObject }>;
  readonly templates: ReadonlyMap<string, { readonly server: string; readonly definition: JsonObject }>;
  /** The servers that the client reaches. */
  readonly servers: readonly string[];
}

/** The part of a host that lists come from. */
export type ListingHost = Pick<Host, "tools" | "prompts" | "catalog" | "states">;

/** Reads the catalogs, connected or cached. Of several items with the same name or URI, the first one counts. */
export function viewFor(client: GatewayClient, host: ListingHost): ClientView {
  const { only } = client;
  return only === undefined ? mergedView(client, host) : serverView(client, only, host.catalog(only));
}

/** The servers that a client reaches: the demo server only if there is no other. */
export function serversOf(client: GatewayClient, host: Pick<Host, "states">): readonly string[] {
  const names = host.states().map(({ name }) => name);
  const reached = names.filter((name) => isReached(client, name));
  return names.length > 1 && client.servers === undefined ? reached.filter((name) => name !== demoName) : reached;
}

function isReached({ only, servers }: GatewayClient, server: string): boolean {
  return only === undefined ? (servers?.includes(server) ?? true) : only === server;
}

function mergedView(client: GatewayClient, host: ListingHost): ClientView {
  const servers = serversOf(client, host);
  const catalogs = new Map(servers.map((server) => [server, host.catalog(server)]));
  const definitions = new Map(
    [...catalogs].map(([server, catalog]) => [
      server,
      { tools: byName(catalog?.tools ?? []), prompts: byName(catalog?.prompts ?? []) },
    ]),
  );
  const tools = host.tools().flatMap(({ name, server, serverToolName }) => {
    const definition = definitions.get(server)?.tools.get(serverToolName);
    if (definition === undefined || !isOffered(client, server, serverToolName)) return [];
    return [[name, { server, name: serverToolName, definition: { ...definition, name } }] as const];
  });
  const prompts = host.prompts().flatMap(({ name, server, serverPromptName }) => {
    const definition = definitions.get(server)?.prompts.get(serverPromptName);
    return definition === undefined
      ? []
      : [[name, { server, name: serverPromptName, definition: { ...definition, name } }] as const];
  });
  const all = [...catalogs].flatMap(([server, catalog]) => (catalog === undefined ? [] : [{ server, catalog }]));
  return {
    tools: firsts(tools),
    prompts: firsts(prompts),
    resources: firsts(
      all.flatMap(({ server, catalog }) =>
        catalog.resources.map((definition) => [definition.uri, { server, definition }] as const),
      ),
    ),
    templates: firsts(
      all.flatMap(({ server, catalog }) =>
        catalog.resourceTemplates.map((definition) => [definition.uriTemplate, { server, definition }] as const),
      ),
    ),
    servers,
  };
}

/** Everything of one server, under its own names and in its own order. */
function serverView(client: GatewayClient, server: string, catalog: Catalog | undefined): ClientView {
  const tools = (catalog?.tools ?? []).filter(({ name }) => isOffered(client, server, name));
  return {
    tools: firsts(tools.map((tool) => [tool.name, { server, name: tool.name, definition: tool }] as const)),
    prompts: firsts(
      (catalog?.prompts ?? []).map(
        (prompt) => [prompt.name, { server, name: prompt.name, definition: { ...prompt } }] as const,
      ),
    ),
    resources: firsts((catalog?.resources ?? []).map((each) => [each.uri, { server, definition: each }] as const)),
    templates: firsts(
      (catalog?.resourceTemplates ?? []).map((each) => [each.uriTemplate, { server, definition: each }] as const),
    ),
    servers: [server],
  };
}

/** Whether `--tools` lets the client see the tool. */
function isOffered({ tools }: GatewayClient, server: string, tool: string): boolean {
  return tools === undefined || tools.some((pattern) => matches(pattern, `${server}.${tool}`));
}

/** `*` stands for any characters; every other character for itself. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1 || at + part.length > name.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}

/** The server that can read a URI: the one that lists it, or whose template it matches, or the only one with resources. */
export function serverOfUri(uri: string, { resources, templates, servers }: ClientView): string | undefined {
  const listed = resources.get(uri)?.server;
  if (listed !== undefined) return listed;
  for (const [template, { server }] of templates) if (matchesTemplate(uri, template)) return server;
  const candidates = new Set([...resources.values(), ...templates.values()].map(({ server }) => server));
  if (servers.length === 1) return servers[0];
  return candidates.size === 1 ? [...candidates][0] : undefined;
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

/** Of several entries with the same key the first one stays, in the order of the entries. */
function firsts<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [key, value] of entries) if (!found.has(key)) found.set(key, value);
  return found;
}
