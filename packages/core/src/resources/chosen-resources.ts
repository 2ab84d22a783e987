/** Restricts a resource registry to some servers. */

import type { ResourceSource } from "./references/resource-reference.ts";

type Resources = ResourceSource["resources"];

/** Returns the resources and templates of these servers only. */
export function chosenResources(servers: readonly string[], all: Resources): Resources {
  const isChosen = ({ serverName }: { readonly serverName: string }): boolean => servers.includes(serverName);
  return {
    findByUri: (uri) => all.findByUri(uri).filter(isChosen),
    getAllResources: () => all.getAllResources().filter(isChosen),
    getResourcesByServer: (server) => all.getResourcesByServer(server).filter(isChosen),
    getAllTemplates: () => all.getAllTemplates().filter(isChosen),
    getTemplatesByServer: (server) => all.getTemplatesByServer(server).filter(isChosen),
  };
}
