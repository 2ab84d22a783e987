/** The lists of tools, prompts and resources that one client sees, with the server of each item. */

import type { OpenedHost } from "@fairlead/core/host";
import {
  type Catalog,
  type CatalogTool,
  type ClientItem,
  type ClientLists,
  type ClientPins,
  isAppOnly,
  listsFor,
  type SeenCatalog,
} from "@fairlead/core/server";
import type { ClientReach } from "./client-reach.ts";

/** What a client sees. The keys are the names and URIs that the client uses. */
export interface ClientView extends ClientReach, ClientLists {
  /** The names of the gateway's own tools. Undefined if the client has no tool budget. */
  readonly own: OwnToolNames | undefined;
  /** The name of the gateway's own tool `load_skill`. Undefined if the client does not get it. */
  readonly loadSkill: string | undefined;
  /** The same of `sign_in`. */
  readonly signIn: string | undefined;
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
  skill: { server: "", name: "load_skill" },
  signIn: { server: "", name: "sign_in" },
} as const;

/** Which of its own tools the gateway gives a client. */
interface OwnTools {
  readonly hasBudget: boolean;
  readonly loadsSkills: boolean;
  readonly signsIn: boolean;
}

function ownCatalog({ hasBudget, loadsSkills, signsIn }: OwnTools): SeenCatalog {
  const given = [
    ...(hasBudget ? [ownTools.search, ownTools.call] : []),
    ...(loadsSkills ? [ownTools.skill] : []),
    ...(signsIn ? [ownTools.signIn] : []),
  ];
  const tools = given.map(({ name }) => ({ name, inputSchema: {} }));
  return { server: "", catalog: { tools, prompts: [], resources: [], resourceTemplates: [] } };
}

/** What a client sees because of the extensions that it declares. */
interface OwnCatalogs {
  /** Returns what a server lists for this client only. Default: what it lists for all clients. */
  readonly catalogOf?: (server: string) => Catalog | undefined;
  /** Whether the client shows views. Only such a client sees the tools that only views may call. */
  readonly hasViews?: boolean;
}

/**
 * Returns the loaded catalogs of the client's servers, without what the client may not use or the host cannot use.
 */
export function catalogsFor(
  { servers, only, hasTool }: ClientReach,
  host: Pick<OpenedHost, "tools" | "prompts" | "catalog" | "gateway">,
  { catalogOf = () => undefined, hasViews = false }: OwnCatalogs = {},
): readonly SeenCatalog[] {
  return servers.flatMap((server): readonly SeenCatalog[] => {
    const common = host.catalog(server);
    const catalog = catalogOf(server) ?? common;
    if (catalog === undefined) return [];
    const seen = (tools: readonly CatalogTool[]): readonly CatalogTool[] =>
      tools.filter((tool) => hasTool(server, tool.name) && (hasViews || !isAppOnly(tool))).map(withoutTasks);
    // A client of one server sees the server's own names.
    if (only !== undefined) return [{ server, catalog: { ...catalog, tools: seen(catalog.tools) }, form: "own" }];
    const usable = {
      ...catalog,
      tools: seen(
        usableOf(
          catalog.tools,
          common?.tools,
          host.tools(server).map((tool) => tool.serverToolName),
        ),
      ),
      prompts: usableOf(
        catalog.prompts,
        common?.prompts,
        host.prompts(server).map((prompt) => prompt.serverPromptName),
      ),
    };
    const form = host.gateway.servers.find(server)?.isDemo === true ? "qualified" : "bare";
    return [{ server, catalog: usable, form }];
  });
}

/**
 * Returns the items that the host can use, and those that only the client's own catalog has.
 *
 * @param common The items of the catalog that the host has read.
 * @param names The names of those of them that it can offer to a model.
 */
function usableOf<T extends { readonly name: string }>(
  items: readonly T[],
  common: readonly T[] = [],
  names: readonly string[],
): readonly T[] {
  const usable = new Set(names);
  const unusable = new Set(common.flatMap((item) => (usable.has(item.name) || isAppOnly(item) ? [] : [item.name])));
  return [...byName(items).values()].filter(({ name }) => !unusable.has(name));
}

/**
 * Returns the lists for a client. `catalogs` has those of the client's servers, in the order of the settings. The
 * gateway's own tools are named first, so that no server can take the place of a tool that calls other servers' tools;
 * a client of one server cannot confuse servers, and sees that server's own names in any case.
 */
export function viewFor(
  reach: ClientReach,
  catalogs: readonly SeenCatalog[],
  { names, ...given }: OwnTools & { readonly names: ClientPins },
): ClientView {
  const { hasBudget, loadsSkills, signsIn } = given;
  if (!hasBudget && !loadsSkills && !signsIn)
    return { ...reach, ...listsFor(catalogs, names), own: undefined, loadSkill: undefined, signIn: undefined };
  const own = ownCatalog(given);
  const lists = listsFor(reach.only === undefined ? [own, ...catalogs] : [...catalogs, own], names);
  const tools = new Map(lists.tools);
  function takeOwn({ server, name }: Pick<ClientItem, "server" | "name">): string {
    const [as = name] = [...tools].find(([, item]) => item.server === server && item.name === name) ?? [];
    tools.delete(as);
    return as;
  }
  return {
    ...reach,
    ...lists,
    own: hasBudget ? { search: takeOwn(ownTools.search), call: takeOwn(ownTools.call) } : undefined,
    loadSkill: loadsSkills ? takeOwn(ownTools.skill) : undefined,
    signIn: signsIn ? takeOwn(ownTools.signIn) : undefined,
    tools,
  };
}

/**
 * Returns the server of a URI that the client has not seen, and that no template which it has seen can produce: the one
 * that lists the URI. If there is none, returns the only server that can have resources.
 */
export function serverOfNewUri(uri: string, view: ClientView, names: ClientPins): string | undefined {
  const { resources, templates, servers } = view;
  const listed = resources.get(uri)?.server;
  if (listed !== undefined) return listed;
  if (servers.length === 1) return servers[0];
  const owners = [...resources.values(), ...templates.values(), ...names.resources.all, ...names.templates.all];
  const [first, ...others] = new Set(owners.map(({ server }) => server));
  return first !== undefined && others.length === 0 && servers.includes(first) ? first : undefined;
}

/** The gateway itself waits for legacy tasks, so the client must not see `taskSupport`. */
function withoutTasks(tool: CatalogTool): CatalogTool {
  if (tool.execution?.["taskSupport"] === undefined) return tool;
  const { taskSupport: _, ...execution } = tool.execution;
  const { execution: _whole, ...rest } = tool;
  return Object.keys(execution).length === 0 ? rest : { ...rest, execution };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
