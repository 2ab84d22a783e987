/** Decides which MCP roots a server gets. */

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "../../mcp/requests.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import type { Configuration } from "../../trust/configuration.ts";

/**
 * The workspace root if `fairlead.servers.NAME.roots` is true in the user's settings and the folder is trusted.
 * Otherwise no roots: some servers ignore the folders in their arguments if they get roots.
 */
export function rootsFor(
  { extras }: Pick<ServerDefinition, "extras">,
  { trust, locations }: Pick<Configuration, "trust" | "locations">,
): readonly Root[] {
  if (!extras.roots || !trust.trusted) return [];
  return [{ uri: pathToFileURL(locations.root).href, name: basename(locations.root) }];
}
