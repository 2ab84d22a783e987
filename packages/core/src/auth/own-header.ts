/** Whether an entry brings its own `Authorization` header: whoever wrote it has decided how to sign in. */

import type { ServerDefinition } from "../settings/define/definition.ts";

export function bringsOwnHeader({ transport, authentication }: ServerDefinition): boolean {
  if (authentication.provider === "oauth" && authentication.oauth.enabled === true) return false;
  return (
    transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => name.toLowerCase() === "authorization")
  );
}
