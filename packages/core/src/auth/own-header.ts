/** Finds server definitions with their own `Authorization` header, for which Fairlead does not sign in. */

import type { ServerDefinition } from "../settings/define/definition.ts";

/** Whether the definition has an `Authorization` header and does not set `oauth.enabled`. */
export function bringsOwnHeader({ transport, authentication }: ServerDefinition): boolean {
  if (authentication.provider === "oauth" && authentication.oauth.enabled === true) return false;
  return (
    transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => name.toLowerCase() === "authorization")
  );
}
