/** The resources and resource templates of all servers. Several servers may offer the same URI: it is theirs, not ours to choose. */

import type { CatalogResource, CatalogResourceTemplate } from "../discover/catalog.ts";
import { type ByServer, createByServer } from "./by-server.ts";

/** A resource with the name of the server that lists it. */
export type DiscoveredMCPResource = CatalogResource & { readonly serverName: string };
/** A resource template with the name of the server that lists it. */
export type DiscoveredMCPResourceTemplate = CatalogResourceTemplate & { readonly serverName: string };

export interface ServerResources {
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates?: readonly CatalogResourceTemplate[];
}

export interface ResourceRegistryOptions {
  /** By default whose resources come first. */
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

  /** All of that server at once; the first of a URI stays. */
  replaceServer(serverName: string, { resources, resourceTemplates = [] }: ServerResources): void {
    const byUri = new Map<string, DiscoveredMCPResource>();
    // Ours comes last: a server may have put anything beside its own.
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

  /** Those of every server that offers it. */
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
