/** The error for a server that is this gateway, directly or through other gateways. */

import { HostError } from "../errors.ts";

/** The `data.reason` of the JSON-RPC error with which a gateway refuses a client that leads back to it. */
export const loopReason = "gateway_loop";

/** Returns the error for the entry of such a server. */
export function loopError(serverName: string): HostError {
  return new HostError("usage", `"${serverName}" leads back to this gateway: it would be a server of itself`, {
    serverName,
    next: `Remove "${serverName}" from mcpServers in settings.json.`,
  });
}
