/** Suggests resources for a URI that no server has. Pure. */

import type { DiscoveredMCPResource } from "../registry/resource-registry.ts";
import { closest } from "../text/closest.ts";

/** Limits the work: a server may list very many. */
const mostCompared = 2000;
const longestCompared = 300;
const mostShown = 3;
const shortestPart = 3;

/** Returns the resources with the most similar URIs. */
export function nearResources(
  wanted: string,
  resources: readonly DiscoveredMCPResource[],
): readonly DiscoveredMCPResource[] {
  const part = lastPart(wanted);
  const compared = resources.slice(0, mostCompared).filter(({ uri }) => uri.length <= longestCompared);
  const near = [
    nearest(wanted, compared, ({ uri }) => uri),
    nearest(part, compared, ({ uri }) => lastPart(uri)),
    ...(part.length < shortestPart
      ? []
      : compared.filter(({ uri, name }) => [uri, name].some((text) => text.toLowerCase().includes(part)))),
  ];
  return [...new Set(near.flatMap((resource) => resource ?? []))].slice(0, mostShown);
}

function nearest(
  wanted: string,
  resources: readonly DiscoveredMCPResource[],
  key: (resource: DiscoveredMCPResource) => string,
): DiscoveredMCPResource | undefined {
  const word = wanted.length > longestCompared ? undefined : closest(wanted, resources.map(key));
  return word === undefined ? undefined : resources.find((resource) => key(resource) === word);
}

function lastPart(uri: string): string {
  const parts = uri.toLowerCase().split(/[/:]/);
  return parts.findLast((part) => part !== "") ?? "";
}
