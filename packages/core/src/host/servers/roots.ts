/** Decides which MCP roots a server gets. */

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "../../mcp/requests.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import type { Configuration } from "../../trust/configuration.ts";

/**
 * The workspace root, for a server with `fairlead.servers.NAME.roots: true` in a trusted folder; otherwise no roots,
 * because some servers that get roots ignore the folders in their arguments. Only the user's own settings can set
 * `roots`.
 */
export function rootsFor(
  { extras }: Pick<ServerDefinition, "extras">,
  { trust, locations }: Pick<Configuration, "trust" | "locations">,
): readonly Root[] {
  if (!extras.roots || !trust.trusted) return [];
  return [{ uri: pathToFileURL(locations.root).href, name: basename(locations.root) }];
}
