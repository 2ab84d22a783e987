/** Digest of the issuer, endpoints and client that a server definition sets. Definitions with different pins have separate sign-ins. */

import type { ServerDefinition } from "../../settings/define/definition.ts";

/** Undefined if the definition sets none of them: then all definitions of the same URL share one sign-in. */
export async function pinOf(definition: ServerDefinition): Promise<string | undefined> {
  const { authentication, extras, scope, base } = definition;
  if (authentication.provider !== "oauth") return undefined;
  const { issuer, authorizationUrl, tokenUrl, registrationUrl, clientId } = authentication.oauth;
  const pinned = [issuer, extras.issuerOverride, authorizationUrl, tokenUrl, registrationUrl, clientId];
  if (pinned.every((setting) => setting === undefined)) return undefined;
  const { createHash } = await import("node:crypto");
  // Settings of a workspace are valid in that workspace only.
  const whole = JSON.stringify([scope === "workspace" ? base.folder : null, ...pinned.map((text) => text ?? null)]);
  return createHash("sha256").update(whole).digest("hex");
}
