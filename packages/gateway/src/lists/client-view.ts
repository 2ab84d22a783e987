/** Builds the lists of tools, prompts and resources that one client sees, and remembers the server of each item. */

import type { Catalog, CatalogTool } from "@fairlead/core/discover/catalog";
import type { Host } from "@fairlead/core/host/types";
import { matchesTemplate } from "@fairlead/core/resources/templates/uri-template";
import type { JsonObject } from "@fairlead/wire";
import type { ClientReach } from "./client-reach.ts";

/** A tool or prompt in a client's list. `name`: the name that its server uses. `definition`: what the client sees. */
export interface ClientItem {
  readonly server: string;
  readonly name: string;
  readonly definition: JsonObject;
}

/** What a client sees. The keys are the names and URIs that the client uses. */
export interface ClientView extends ClientReach {
  readonly tools: ReadonlyMap<string, ClientItem>;
  readonly prompts: ReadonlyMap<string, ClientItem>;
  readonly resources: ReadonlyMap<string, Omit<ClientItem, "name">>;
  readonly templates: ReadonlyMap<string, Omit<ClientItem, "name">>;
}

/** The part of a host that provides the lists. */
export type ListingHost = Pick<Host, "tools" | "prompts" | "catalog">;

/**
 * Returns the lists for a client, from the loaded catalogs. If several items have the same name or URI, only the first
 * is listed.
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

/** Uses the names that the host's registry gives to tools and prompts. */
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

/** Uses the server's own names, because the client sees only this server. */
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
 * Returns the server that lists the URI or has a matching template. If there is none, returns the only server that can
 * have resources.
 */
export function serverOfUri(uri: string, { resources, templates, servers }: ClientView): string | undefined {
  const listed = resources.get(uri)?.server;
  if (listed !== undefined) return listed;
  for (const [template, { server }] of templates) if (matchesTemplate(uri, template)) return server;
  if (servers.length === 1) return servers[0];
  const candidates = new Set([...resources.values(), ...templates.values()].map(({ server }) => server));
  return candidates.size === 1 ? [...candidates][0] : undefined;
}

/** The gateway itself waits for legacy tasks, so the client must not see `taskSupport`. */
function withoutTasks(tool: CatalogTool): JsonObject {
  if (tool.execution?.["taskSupport"] === undefined) return { ...tool };
  const { taskSupport: _, ...execution } = tool.execution;
  const { execution: _whole, ...rest } = tool;
  return Object.keys(execution).length === 0 ? rest : { ...rest, execution };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

function firsts<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [key, value] of entries) if (!found.has(key)) found.set(key, value);
  return found;
}
