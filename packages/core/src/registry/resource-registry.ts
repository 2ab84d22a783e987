/** The resources and resource templates of all servers. */

import type { CatalogResource, CatalogResourceTemplate } from "../server/catalog.ts";
import { type ByServer, createByServer } from "./named-items.ts";

/** A resource with the name of the server that lists it. */
export type DiscoveredMCPResource = CatalogResource & { readonly serverName: string };
/** A resource template with the name of the server that lists it. */
export type DiscoveredMCPResourceTemplate = CatalogResourceTemplate & { readonly serverName: string };

/** The resources of one server. */
export interface ServerResources {
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates?: readonly CatalogResourceTemplate[];
}

/** Options of `ResourceRegistry`. */
export interface ResourceRegistryOptions {
  /** The order of servers. Default: the order of registration. */
  readonly serverOrder?: readonly string[];
}

interface ServerEntry {
  readonly resources: ReadonlyMap<string, DiscoveredMCPResource>;
  readonly templates: readonly DiscoveredMCPResourceTemplate[];
}

/** The resources and resource templates of all servers. Several servers may list the same URI. */
export class ResourceRegistry {
  readonly #servers: ByServer<ServerEntry>;

  constructor({ serverOrder }: ResourceRegistryOptions = {}) {
    this.#servers = createByServer(serverOrder);
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
    this.#servers.reorder(serverOrder);
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
