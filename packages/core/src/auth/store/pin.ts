/** What an entry says itself about where and as whom to sign in, as a digest: whoever says something else has a sign-in of their own. */

import type { ServerDefinition } from "../../settings/define/definition.ts";

/** Undefined: the server alone decides, and all entries for its address share one sign-in. */
export async function pinOf(definition: ServerDefinition): Promise<string | undefined> {
  const { authentication, extras, scope, base } = definition;
  if (authentication.provider !== "oauth") return undefined;
  const { issuer, authorizationUrl, tokenUrl, registrationUrl, clientId } = authentication.oauth;
  const pinned = [issuer, extras.issuerOverride, authorizationUrl, tokenUrl, registrationUrl, clientId];
  if (pinned.every((setting) => setting === undefined)) return undefined;
  const { createHash } = await import("node:crypto");
  // What one workspace says counts in that workspace.
  const whole = JSON.stringify([scope === "workspace" ? base.folder : null, ...pinned.map((text) => text ?? null)]);
  return createHash("sha256").update(whole).digest("hex");
}
