/**
 * The lists of tools, prompts and resources that one client sees, with the server of each item: a pure function of the
 * catalogs in the order of the settings, of the servers that the client may use, and of the names that it has seen.
 */

import type { Host } from "@fairlead/core/host/types";
import { type Claim, createNaming, qualify, type SeenNames } from "@fairlead/core/normalise/tool-name";
import type { Catalog, CatalogTool } from "@fairlead/core/server/catalog";
import type { JsonObject } from "@fairlead/wire";
import type { ClientNames } from "./client-names.ts";
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
  readonly resources: ReadonlyMap<string, ClientItem>;
  readonly templates: ReadonlyMap<string, ClientItem>;
  /** The names of the gateway's own tools. Undefined if the client has no tool budget. */
  readonly own: OwnToolNames | undefined;
}

/** The names under which a client sees the gateway's own tools. */
export interface OwnToolNames {
  readonly search: string;
  readonly call: string;
}

/** The gateway's own tools as owners of names. No server has this name. */
export const ownTools = {
  search: { server: "", name: "search_tools" },
  call: { server: "", name: "call_tool" },
} as const;

/** The catalog of a server that the client may use. */
export interface ServerCatalog {
  readonly server: string;
  readonly catalog: Pick<Catalog, "tools" | "prompts" | "resources" | "resourceTemplates">;
  /** Whether the names of its tools and prompts always contain the server's name. */
  readonly isAlwaysQualified?: boolean;
}

/** Returns the loaded catalogs of the client's servers, without tools and prompts that the host cannot use. */
export function catalogsFor(
  { servers, only }: ClientReach,
  host: Pick<Host, "tools" | "prompts" | "catalog" | "isAlwaysQualified">,
): readonly ServerCatalog[] {
  return servers.flatMap((server): readonly ServerCatalog[] => {
    const catalog = host.catalog(server);
    if (catalog === undefined) return [];
    if (only !== undefined) return [{ server, catalog }];
    const { resources, resourceTemplates } = catalog;
    const tools = byName(catalog.tools);
    const prompts = byName(catalog.prompts);
    const usable = {
      tools: host.tools(server).flatMap(({ serverToolName }) => tools.get(serverToolName) ?? []),
      prompts: host.prompts(server).flatMap(({ serverPromptName }) => prompts.get(serverPromptName) ?? []),
    };
    const isAlwaysQualified = host.isAlwaysQualified(server);
    return [{ server, catalog: { ...usable, resources, resourceTemplates }, isAlwaysQualified }];
  });
}

/**
 * Returns the lists for a client. `catalogs` has those of the client's servers, in the order of the settings. If several
 * servers list one name, the client keeps the server that it knows, otherwise the first one has it; the others get their
 * server's name as a prefix. If several servers list one URI, only one of them is listed, by the same rule.
 */
export function viewFor(
  reach: ClientReach,
  catalogs: readonly ServerCatalog[],
  { names, hasBudget }: { readonly names: ClientNames; readonly hasBudget: boolean },
): ClientView {
  const qualified = new Set(catalogs.flatMap(({ server, isAlwaysQualified }) => (isAlwaysQualified ? [server] : [])));
  const naming = (seen: SeenNames): ((claim: Claim) => string) =>
    // A client of one server sees the server's own names.
    reach.only === undefined
      ? createNaming({ seen, isAlwaysQualified: (server) => qualified.has(server) })
      : ({ name }) => name;
  const nameTool = naming(names.tools);
  const namePrompt = naming(names.prompts);
  const mayList = names.createListing();
  /** The gateway's own tools are named first: no server can take the place of a tool that calls other servers' tools. */
  function nameOwn({ server, name }: Claim): string {
    const isListed = catalogs.some(({ catalog }) => catalog.tools.some((tool) => tool.name === name));
    return reach.only === undefined || !isListed ? nameTool({ server, name }) : qualify(server, name);
  }
  const own = hasBudget ? { search: nameOwn(ownTools.search), call: nameOwn(ownTools.call) } : undefined;
  return {
    ...reach,
    own,
    tools: itemsOf(catalogs, ({ server, catalog }) =>
      catalog.tools
        .filter(({ name }) => reach.hasTool(server, name))
        .map((tool) => {
          const as = nameTool({ server, name: tool.name });
          return [as, tool.name, { ...withoutTasks(tool), name: as }];
        }),
    ),
    prompts: itemsOf(catalogs, ({ server, catalog }) =>
      catalog.prompts.map((prompt) => {
        const as = namePrompt({ server, name: prompt.name });
        return [as, prompt.name, { ...prompt, name: as }];
      }),
    ),
    resources: itemsOf(catalogs, ({ server, catalog }) =>
      catalog.resources
        .filter(({ uri }) => mayList(server, uri))
        .map((definition) => [definition.uri, definition.uri, definition]),
    ),
    templates: itemsOf(catalogs, ({ server, catalog }) =>
      catalog.resourceTemplates
        .filter(({ uriTemplate }) => (names.ownerOf(uriTemplate) ?? server) === server)
        .map((definition) => [definition.uriTemplate, definition.uriTemplate, definition]),
    ),
  };
}

/** The items of all catalogs by the client's names. If several items have the same name, the first has it. */
function itemsOf(
  catalogs: readonly ServerCatalog[],
  list: (catalog: ServerCatalog) => readonly (readonly [as: string, name: string, definition: JsonObject])[],
): ReadonlyMap<string, ClientItem> {
  const items = new Map<string, ClientItem>();
  for (const catalog of catalogs)
    for (const [as, name, definition] of list(catalog))
      if (!items.has(as)) items.set(as, { server: catalog.server, name, definition });
  return items;
}

/**
 * Returns the server of a URI that the client has not seen, and that no template which it has seen can produce: the one
 * that lists the URI. If there is none, returns the only server that can have resources.
 */
export function serverOfNewUri(uri: string, view: ClientView, names: ClientNames): string | undefined {
  const { resources, templates, servers } = view;
  const listed = resources.get(uri)?.server;
  if (listed !== undefined) return listed;
  if (servers.length === 1) return servers[0];
  const owners = [...resources.values(), ...templates.values(), ...names.resources.pins, ...names.templates.pins];
  const [first, ...others] = new Set(owners.map(({ server }) => server));
  return first !== undefined && others.length === 0 && servers.includes(first) ? first : undefined;
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
