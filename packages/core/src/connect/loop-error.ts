/** The error for a server that is this gateway, directly or through other gateways. */

import { HostError } from "../errors.ts";

/** The `data.reason` of the JSON-RPC error with which a gateway refuses a client that leads back to it. */
export const loopReason = "gateway_loop";

/**
 * Returns the error for the entry of such a server.
 *
 * @param reason Continues the message after the server's name.
 */
export function loopError(
  serverName: string,
  reason = "leads back to this gateway: it would be a server of itself",
): HostError {
  return new HostError("usage", `"${serverName}" ${reason}`, {
    serverName,
    next: `Remove "${serverName}" from mcpServers in settings.json.`,
  });
}
