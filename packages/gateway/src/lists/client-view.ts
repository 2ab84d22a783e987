/** The tools, prompts and resources that one client sees, and the server that each belongs to. */

import type { Catalog, CatalogTool } from "@fairlead/core/discover/catalog";
import type { Host } from "@fairlead/core/host/types";
import { matchesTemplate } from "@fairlead/core/resources/templates/uri-template";
import type { JsonObject } from "@fairlead/wire";
import type { ClientReach } from "./client-reach.ts";

/**
 * A tool or prompt in a client's list: its server, its name on that server, and the definition that the client sees.
 */
export interface ClientItem {
  readonly server: string;
  readonly name: string;
  readonly definition: JsonObject;
}

/** The tools, prompts, resources and templates that a client sees, by the names that the client uses. */
export interface ClientView extends ClientReach {
  readonly tools: ReadonlyMap<string, ClientItem>;
  readonly prompts: ReadonlyMap<string, ClientItem>;
  readonly resources: ReadonlyMap<string, Omit<ClientItem, "name">>;
  readonly templates: ReadonlyMap<string, Omit<ClientItem, "name">>;
}

/** The part of a host that provides the lists. */
export type ListingHost = Pick<Host, "tools" | "prompts" | "catalog">;

/**
 * Returns the lists for a client, from connected servers and from the catalog cache. If several items have the same
 * name or URI, only the first is listed.
 */
export function viewFor(reach: ClientReach, host: ListingHost): ClientView {
  const all = reach.servers.flatMap((server) => {
    const catalog = host.catalog(server);
    return catalog === undefined ? [] : [{ server, catalog }];
  });
  return {
    ...reach,
    ...(reach.only === undefined ? mergedItems(reach, host, all) : ownItems(reach, all)),
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
  };
}

interface ServerCatalog {
  readonly server: string;
  readonly catalog: Catalog;
}

/**
 * Lists tools and prompts under their names in the host's registry. If several servers use the same name, only the
 * first server's item is listed.
 */
function mergedItems(reach: ClientReach, host: ListingHost, all: readonly ServerCatalog[]) {
  const definitions = new Map(
    all.map(({ server, catalog }) => [server, { tools: byName(catalog.tools), prompts: byName(catalog.prompts) }]),
  );
  const tools = host.tools().flatMap(({ name, server, serverToolName }) => {
    const definition = definitions.get(server)?.tools.get(serverToolName);
    if (definition === undefined || !reach.hasTool(server, serverToolName)) return [];
    return [[name, { server, name: serverToolName, definition: { ...withoutTasks(definition), name } }] as const];
  });
  const prompts = host.prompts().flatMap(({ name, server, serverPromptName }) => {
    const definition = definitions.get(server)?.prompts.get(serverPromptName);
    return definition === undefined
      ? []
      : [[name, { server, name: serverPromptName, definition: { ...definition, name } }] as const];
  });
  return { tools: firsts(tools), prompts: firsts(prompts) };
}

/** Lists the tools and prompts of one server under their own names. */
function ownItems(reach: ClientReach, all: readonly ServerCatalog[]) {
  const tools = all.flatMap(({ server, catalog }) =>
    catalog.tools.flatMap((tool) =>
      reach.hasTool(server, tool.name)
        ? [[tool.name, { server, name: tool.name, definition: withoutTasks(tool) }] as const]
        : [],
    ),
  );
  const prompts = all.flatMap(({ server, catalog }) =>
    catalog.prompts.map((prompt) => [prompt.name, { server, name: prompt.name, definition: { ...prompt } }] as const),
  );
  return { tools: firsts(tools), prompts: firsts(prompts) };
}

/**
 * Finds the server for a resource URI: the server that lists the URI, else a server with a matching template, else the
 * only server with resources.
 */
export function serverOfUri(uri: string, { resources, templates, servers }: ClientView): string | undefined {
  const listed = resources.get(uri)?.server;
  if (listed !== undefined) return listed;
  for (const [template, { server }] of templates) if (matchesTemplate(uri, template)) return server;
  if (servers.length === 1) return servers[0];
  const candidates = new Set([...resources.values(), ...templates.values()].map(({ server }) => server));
  return candidates.size === 1 ? [...candidates][0] : undefined;
}

/** Removes `taskSupport` from a definition, because the gateway itself waits for the end of a legacy task. */
function withoutTasks(tool: CatalogTool): JsonObject {
  if (tool.execution?.["taskSupport"] === undefined) return { ...tool };
  const { taskSupport: _, ...execution } = tool.execution;
  const { execution: _whole, ...rest } = tool;
  return Object.keys(execution).length === 0 ? rest : { ...rest, execution };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

/** Keeps only the first of several entries with the same name or URI. */
function firsts<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [key, value] of entries) if (!found.has(key)) found.set(key, value);
  return found;
}
