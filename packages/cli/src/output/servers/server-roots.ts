/** Shows which MCP roots a server gets, as text and as JSON, for `mcp get` and `mcp test`. */

import { fileURLToPath } from "node:url";
import { rootsFor } from "@fairlead/core/host/servers/roots";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";

/** Returns the folders that Fairlead sends to the server as roots. */
export function rootFolders(definition: ServerDefinition, configuration: Configuration): readonly string[] {
  return rootsFor(definition, configuration).map(({ uri }) => fileURLToPath(uri));
}

/** Returns the folders that are sent, or the reason why none is sent. */
export function rootsWords(definition: ServerDefinition, configuration: Configuration): SafeText {
  const folders = rootFolders(definition, configuration);
  if (folders.length > 0) return safe`sent: ${joinSafe(folders.map(toVisibleLine), safe`, `)}`;
  return definition.extras.roots
    ? safe`not sent: the folder is not trusted`
    : safe`not sent (fairlead.servers.${toVisibleLine(definition.name)}.roots is false)`;
}
