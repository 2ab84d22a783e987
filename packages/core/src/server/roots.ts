/** Decides which MCP roots a server gets. */

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { Root } from "./requests.ts";

type RootsSettings = Pick<Configuration, "trust" | "locations">;

/**
 * Whether a server may learn folders of the user, the workspace root or those of a gateway's client: only with
 * `fairlead.servers.NAME.roots` in the user's settings, and in a trusted folder.
 */
export function mayHaveRoots(
  { extras }: Pick<ServerDefinition, "extras">,
  { trust }: Pick<RootsSettings, "trust">,
): boolean {
  return extras.roots && trust.trusted;
}

/**
 * The workspace root if the server may have roots. Otherwise no roots: some servers ignore the folders in their arguments if they get roots.
 */
export function rootsFor(definition: Pick<ServerDefinition, "extras">, configuration: RootsSettings): readonly Root[] {
  if (!mayHaveRoots(definition, configuration)) return [];
  const { locations } = configuration;
  return [{ uri: pathToFileURL(locations.root).href, name: basename(locations.root) }];
}
