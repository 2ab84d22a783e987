/** Checks the cursor of a list request. Every list of the demo server fits on one page, so every cursor is invalid. */

import { type JsonObject, WireError } from "@fairlead/wire";

/**
 * Rejects any cursor.
 *
 * @throws WireError `rpc` with code -32602
 */
export function refuseCursor(params: JsonObject): void {
  if (params["cursor"] !== undefined) throw new WireError("rpc", "Invalid cursor", { rpc: { code: -32602 } });
}
