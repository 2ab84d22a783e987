/** The registries of a host: the tools and prompts of all servers, each under one unique name, and their resources. */

import { HostError } from "../errors.ts";
import { aListOfStrings, anObject, aString, expectArguments, someItems } from "../expect-arguments.ts";
import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { runAtOnce, runInTurns, type Sliced } from "../text/turns.ts";
import type { CatalogResource, CatalogResourceTemplate } from "./catalog.ts";
import type { DiscoveredMCPPrompt } from "./discovered-prompt.ts";
import { type Claim, type NameForm, nameItems } from "./names.ts";
import type { RegisteredTool } from "./registered-tool.ts";

/** A tool or prompt that can be renamed. */
export interface Nameable<T> {
  readonly serverName: string;
  /** The name that a model or the user uses. */
  readonly name: string;
  readonly nameOverride: string | undefined;
  /** Returns the same tool or prompt under the given name. */
  named(name: string): T;
}

/** Options of `ResourceRegistry`. */
export interface ResourceRegistryOptions {
  /** The order of servers. Default: the order of registration. */
  readonly serverOrder?: readonly string[];
}

/** Options of `PromptRegistry`. */
export interface PromptRegistryOptions {
  /**
   * The order of servers. If several prompts have the same name, the prompt of the first server keeps the name. Each of
   * the others gets a name that contains its server's name. Default: the order of registration.
   */
  readonly serverOrder?: readonly string[];
  /** The servers whose name is always part of their prompts' names. */
  readonly alwaysQualified?: readonly string[];
}

/** Options of `RegisteredTools`. */
export interface RegisteredToolsOptions {
  /**
   * The order of servers. If several tools have the same name, the tool of the first server keeps the name. Each of the
   * others gets a name that contains its server's name. Default: the order of registration.
   */
  readonly serverOrder?: readonly string[];
  /** The servers whose name is always part of their tools' names. */
  readonly alwaysQualified?: readonly string[];
  /** Maximum number of tools that the registry takes from one server. Default: 10 000. */
  readonly toolsPerServer?: number;
}

/** A tool that is not offered to a model, with the reason. */
export interface QuarantinedTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly reason: string;
}

/** A tool that a registry can name and offer to a model. */
export interface OfferableTool<T> extends Nameable<T> {
  /** The name that the server gives the tool. */
  readonly serverToolName: string;
  /** Why the tool cannot be offered to a model; undefined if it can. */
  readonly quarantine: string | undefined;
  readonly schema: FunctionDeclaration;
}

/** Values by server, in the order of the settings. */
class ByServer<T> {
  order: readonly string[];
  /** A removed server stays, without a value, so that it gets the same position again. */
  readonly #values = new Map<string, T | undefined>();

  constructor(order: readonly string[] = []) {
    this.order = order;
  }

  get(server: string): T | undefined {
    return this.#values.get(server);
  }

  set(server: string, value: T): void {
    this.#values.set(server, value);
  }

  delete(server: string): void {
    if (this.#values.has(server)) this.#values.set(server, undefined);
  }

  /** All values. Servers that the settings do not name come last, in the order in which they first appeared. */
  inOrder(): readonly (readonly [server: string, value: T])[] {
    return [...new Set([...this.order, ...this.#values.keys()])].flatMap((server) => {
      const value = this.#values.get(server);
      return value === undefined ? [] : [[server, value] as const];
    });
  }
}

/** The number of tools or prompts that are named in one step. A step takes a few milliseconds. */
const itemsPerSlice = 250;
/** Maximum number of attempts of `ready` to name all tools or prompts. An attempt fails if they change meanwhile. */
const mostTries = 3;

/** The items of one server by the names that it gives them. A function is called when they are first needed. */
type ServerItems<T> = Map<string, T> | (() => Iterable<T>);

interface View<T> {
  readonly all: readonly T[];
  readonly byName: ReadonlyMap<string, T>;
  /** The items of each server by the names that it gives them. */
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, T>>;
  /** Items without a name: their own name is empty, or their server has too many. */
  readonly leftOut: readonly { readonly server: string; readonly ownName: string }[];
}

/** Returns a function that gives items other names. For the same item and name, it returns the same copy again. */
export function createRenaming<T extends Nameable<T>>(): (item: T, name: string) => T {
  const copies = new WeakMap<T, T>();
  return (item, name) => {
    if (item.name === name) return item;
    const lastCopy = copies.get(item);
    if (lastCopy?.name === name) return lastCopy;
    const copy = item.named(name);
    copies.set(item, copy);
    return copy;
  };
}

/** The tools, or the prompts, of all servers, each under a unique name. */
class NamedItems<T extends Nameable<T>> {
  readonly #ownName: (item: T) => string;
  readonly #most: number;
  readonly #servers: ByServer<ServerItems<T>>;
  readonly #rename = createRenaming<T>();
  #alwaysQualified: ReadonlySet<string>;
  /** All items under their names. Computed when needed, because each name depends on all items. */
  #view: View<T> | undefined;
  #version = 0;

  /**
   * @param ownName The name that the server gives the item.
   * @param most Maximum number of items of one server.
   */
  constructor(ownName: (item: T) => string, { serverOrder, alwaysQualified }: PromptRegistryOptions, most = Infinity) {
    this.#ownName = ownName;
    this.#most = most;
    this.#servers = new ByServer(serverOrder);
    this.#alwaysQualified = new Set(alwaysQualified);
  }

  /** All items under their names. `all` is the same array until one of them changes. */
  get view(): View<T> {
    this.#view ??= runAtOnce(this.#build());
    return this.#view;
  }

  ofServer(server: string): readonly T[] {
    return [...(this.view.byServer.get(server)?.values() ?? [])];
  }

  find(server: string, ownName: string): T | undefined {
    return this.view.byServer.get(server)?.get(ownName);
  }

  /** Adds an item. If its server already has an item with this name, nothing changes. */
  add(item: T): void {
    const registered = runAtOnce(this.#itemsOf(item.serverName));
    const ownName = this.#ownName(item);
    if (!registered.has(ownName)) this.#set(item.serverName, registered.set(ownName, item));
  }

  /** If one of the items does not belong to the server, nothing changes. */
  replace(server: string, items: Iterable<T> | (() => Iterable<T>)): void {
    this.#set(server, typeof items === "function" ? items : runAtOnce(this.#byOwnName(server, items)));
  }

  remove(server: string): void {
    this.#servers.delete(server);
    this.#changed();
  }

  reorder(serverOrder: readonly string[], alwaysQualified: readonly string[]): void {
    expectArguments("setServerOrder()", {
      serverOrder: [serverOrder, aListOfStrings],
      alwaysQualified: [alwaysQualified, aListOfStrings],
    });
    this.#servers.order = serverOrder;
    this.#alwaysQualified = new Set(alwaysQualified);
    this.#changed();
  }

  async ready(): Promise<void> {
    const isMade = (): boolean => this.#view !== undefined;
    for (let tries = 0; !isMade() && tries < mostTries; tries += 1) {
      const begun = this.#version;
      const built = await runInTurns(this.#build(), () => this.#version !== begun || isMade());
      if (this.#version === begun) this.#view ??= built;
    }
  }

  *#build(): Sliced<View<T>> {
    const usable: T[] = [];
    const leftOut: { server: string; ownName: string }[] = [];
    const byServer = new Map<string, Map<string, T>>();
    for (const [server] of this.#servers.inOrder()) {
      byServer.set(server, new Map());
      const before = usable.length;
      for (const [ownName, item] of yield* this.#itemsOf(server))
        if (ownName !== "" && usable.length - before < this.#most) usable.push(item);
        else leftOut.push({ server, ownName });
    }
    const byName = new Map<string, T>();
    const claimOf = (item: T): Claim => {
      return { server: item.serverName, name: this.#ownName(item), wish: item.nameOverride };
    };
    const formOf = (server: string): NameForm => (this.#alwaysQualified.has(server) ? "qualified" : "bare");
    for (const [as, item] of nameItems(usable, claimOf, { formOf })) {
      const named = this.#rename(item, as);
      byName.set(as, named);
      byServer.get(item.serverName)?.set(this.#ownName(item), named);
      if (byName.size % itemsPerSlice === 0) yield;
    }
    return { all: [...byName.values()], byName, byServer, leftOut };
  }

  *#itemsOf(server: string): Sliced<Map<string, T>> {
    const listed = this.#servers.get(server) ?? new Map<string, T>();
    if (typeof listed !== "function") return listed;
    const made = yield* this.#byOwnName(server, listed());
    if (this.#servers.get(server) === listed) this.#servers.set(server, made);
    return made;
  }

  /** @throws HostError `usage` if an item does not belong to the server */
  *#byOwnName(server: string, items: Iterable<T>): Sliced<Map<string, T>> {
    const offered = new Map<string, T>();
    let count = 0;
    for (const item of items) {
      count += 1;
      if (count % itemsPerSlice === 0) yield;
      expectArguments("replaceServer()", { "each item": [item, anObject] });
      const ownName = this.#ownName(item);
      if (item.serverName !== server)
        throw new HostError("usage", `"${ownName}" belongs to "${item.serverName}", not to "${server}"`);
      if (!offered.has(ownName)) offered.set(ownName, item);
    }
    return offered;
  }

  #set(server: string, items: ServerItems<T>): void {
    this.#servers.set(server, items);
    this.#changed();
  }

  #changed(): void {
    this.#view = undefined;
    this.#version += 1;
  }
}

/**
 * The tools of all servers, each under one unique name for the model. A tool is found by its whole name; the name is
 * never split.
 */
export class RegisteredTools<T extends OfferableTool<T> = RegisteredTool> {
  readonly #tools: NamedItems<T>;
  readonly #toolsPerServer: number;

  constructor(options: RegisteredToolsOptions = {}) {
    this.#toolsPerServer = options.toolsPerServer ?? limits.toolsPerServer;
    this.#tools = new NamedItems((tool) => tool.serverToolName, options, this.#toolsPerServer);
  }

  /** Registers a tool. If the server already has a tool with the same name, the earlier tool stays. */
  registerTool(tool: T): void {
    this.#tools.add(tool);
  }

  /**
   * Replaces all tools of the server in one step. If `tools` is a function, it is called at the next use of the
   * registry.
   */
  replaceServer(serverName: string, tools: Iterable<T> | (() => Iterable<T>)): void {
    expectArguments("replaceServer()", { serverName: [serverName, aString], tools: [tools, someItems] });
    this.#tools.replace(serverName, tools);
  }

  /**
   * Sets a new order of servers. If several tools have the same name, the tool of the first server keeps the name.
   * Conversations keep the names that they have already used.
   */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    this.#tools.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    expectArguments("removeServer()", { serverName: [serverName, aString] });
    this.#tools.remove(serverName);
  }

  /**
   * Names all tools in small steps, so that other code can run in between. Without this call, the next use of the
   * registry names all of them in one step.
   */
  ready(): Promise<void> {
    return this.#tools.ready();
  }

  getTool(modelName: string): T | undefined {
    expectArguments("getTool()", { modelName: [modelName, aString] });
    return offered(this.#tools.view.byName.get(modelName));
  }

  find(serverName: string, serverToolName: string): T | undefined {
    expectArguments("find()", { serverName: [serverName, aString], serverToolName: [serverToolName, aString] });
    return offered(this.#tools.find(serverName, serverToolName));
  }

  getAllTools(): readonly T[] {
    return this.getEveryTool().filter(isOffered);
  }

  /** All tools, including tools that cannot be offered to a model. Returns the same array until a tool changes. */
  getEveryTool(): readonly T[] {
    return this.#tools.view.all;
  }

  getToolsByServer(serverName: string): readonly T[] {
    expectArguments("getToolsByServer()", { serverName: [serverName, aString] });
    return this.#tools.ofServer(serverName).filter(isOffered);
  }

  /** The declarations of the first 512 tools, for a request to a model. APIs accept no more. */
  getFunctionDeclarations(): FunctionDeclaration[] {
    return declarationsOf(this.getAllTools());
  }

  quarantined(): readonly QuarantinedTool[] {
    const unusable = this.getEveryTool().flatMap(({ serverName: server, serverToolName, quarantine: reason }) => {
      return reason === undefined ? [] : [{ server, serverToolName, reason }];
    });
    return [...unusable, ...this.leftOut()];
  }

  /** The tools that got no name in the registry, each with the reason. */
  leftOut(): readonly QuarantinedTool[] {
    const tooMany = `only the first ${this.#toolsPerServer} tools of a server are used; to choose others, use includeTools or excludeTools`;
    return this.#tools.view.leftOut.map(({ server, ownName }) => {
      return { server, serverToolName: ownName, reason: ownName === "" ? "it has no name" : tooMany };
    });
  }
}

/** Whether the tool can be offered to a model. */
export function isOffered(tool: { readonly quarantine: string | undefined }): boolean {
  return tool.quarantine === undefined;
}

/** Returns the tool if it can be offered to a model. */
export function offered<T extends { readonly quarantine: string | undefined }>(tool: T | undefined): T | undefined {
  return tool && isOffered(tool) ? tool : undefined;
}

/** Returns the declarations of the first 512 tools. */
export function declarationsOf(tools: readonly Pick<RegisteredTool, "schema">[]): FunctionDeclaration[] {
  return tools.slice(0, limits.declarations).map(({ schema }) => schema);
}

/** The prompts of all servers, each under one unique name. */
export class PromptRegistry {
  readonly #prompts: NamedItems<DiscoveredMCPPrompt>;

  constructor(options: PromptRegistryOptions = {}) {
    this.#prompts = new NamedItems((prompt) => prompt.serverPromptName, options);
  }

  /** Registers a prompt. If the server already has a prompt with the same name, the earlier prompt stays. */
  registerPrompt(prompt: DiscoveredMCPPrompt): void {
    this.#prompts.add(prompt);
  }

  /** Replaces all prompts of the server. */
  replaceServer(serverName: string, prompts: Iterable<DiscoveredMCPPrompt>): void {
    expectArguments("replaceServer()", { serverName: [serverName, aString], prompts: [prompts, someItems] });
    this.#prompts.replace(serverName, prompts);
  }

  /**
   * Sets a new order of servers. If several prompts have the same name, the prompt of the first server keeps the name.
   */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    this.#prompts.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    expectArguments("removeServer()", { serverName: [serverName, aString] });
    this.#prompts.remove(serverName);
  }

  getPrompt(name: string): DiscoveredMCPPrompt | undefined {
    expectArguments("getPrompt()", { name: [name, aString] });
    return this.#prompts.view.byName.get(name);
  }

  find(serverName: string, serverPromptName: string): DiscoveredMCPPrompt | undefined {
    expectArguments("find()", { serverName: [serverName, aString], serverPromptName: [serverPromptName, aString] });
    return this.#prompts.find(serverName, serverPromptName);
  }

  getAllPrompts(): readonly DiscoveredMCPPrompt[] {
    return this.#prompts.view.all;
  }

  getPromptsByServer(serverName: string): readonly DiscoveredMCPPrompt[] {
    expectArguments("getPromptsByServer()", { serverName: [serverName, aString] });
    return this.#prompts.ofServer(serverName);
  }
}

/** A resource with the name of the server that lists it. */
export type DiscoveredMCPResource = CatalogResource & { readonly serverName: string };
/** A resource template with the name of the server that lists it. */
export type DiscoveredMCPResourceTemplate = CatalogResourceTemplate & { readonly serverName: string };

/** The resources of one server. */
export interface ServerResources {
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates?: readonly CatalogResourceTemplate[];
}

interface RegisteredResources {
  readonly resources: ReadonlyMap<string, DiscoveredMCPResource>;
  readonly templates: readonly DiscoveredMCPResourceTemplate[];
}

/** The resources and resource templates of all servers. Several servers may list the same URI. */
export class ResourceRegistry {
  readonly #servers: ByServer<RegisteredResources>;

  constructor({ serverOrder }: ResourceRegistryOptions = {}) {
    this.#servers = new ByServer(serverOrder);
  }

  /** Replaces all resources of the server. If several resources have the same URI, the first one stays. */
  replaceServer(serverName: string, { resources, resourceTemplates = [] }: ServerResources): void {
    const byUri = new Map<string, DiscoveredMCPResource>();
    // `serverName` comes last, because the server may have sent a member with that name.
    for (const resource of resources)
      if (!byUri.has(resource.uri)) byUri.set(resource.uri, { ...resource, serverName });
    const templates = resourceTemplates.map((template) => ({ ...template, serverName }));
    this.#servers.set(serverName, { resources: byUri, templates });
  }

  setServerOrder(serverOrder: readonly string[]): void {
    this.#servers.order = serverOrder;
  }

  removeServer(serverName: string): void {
    this.#servers.delete(serverName);
  }

  getAllResources(): readonly DiscoveredMCPResource[] {
    return this.#servers.inOrder().flatMap(([, { resources }]) => [...resources.values()]);
  }

  getResourcesByServer(serverName: string): readonly DiscoveredMCPResource[] {
    return [...(this.#servers.get(serverName)?.resources.values() ?? [])];
  }

  /** The resources of all servers that list this URI. */
  findByUri(uri: string): readonly DiscoveredMCPResource[] {
    return this.#servers.inOrder().flatMap(([, { resources }]) => resources.get(uri) ?? []);
  }

  getAllTemplates(): readonly DiscoveredMCPResourceTemplate[] {
    return this.#servers.inOrder().flatMap(([, { templates }]) => templates);
  }

  getTemplatesByServer(serverName: string): readonly DiscoveredMCPResourceTemplate[] {
    return this.#servers.get(serverName)?.templates ?? [];
  }
}
