/** The gate before every other rule: what `fairlead.permissions` closes, nothing opens. Pure. */

import type { HostSettings } from "../settings/definition.ts";

/** The setting that closes a tool, if one does; tools go by the server's own name for them. */
export function closedBy(permissions: HostSettings["permissions"], server: string, tool: string): string | undefined {
  if (permissions.denyTools.includes(tool)) return "fairlead.permissions.denyTools";
  const permitted = permissions.servers.get(server);
  return permitted === undefined || permitted.includes(tool) ? undefined : `fairlead.permissions.servers.${server}`;
}
