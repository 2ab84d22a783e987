/** Revocation (RFC 7009): revoking either token ends the grant and all its tokens. */

import { type Answer, json, oauthError } from "./answer.ts";
import type { Authority, Call } from "./authority.ts";
import { authenticateClient } from "./clients.ts";

export async function answerRevoke(call: Call, authority: Authority): Promise<Answer> {
  const client = await authenticateClient(call, authority);
  if (typeof client === "string") return oauthError("invalid_client", client, 401);
  const { accessTokens, refreshTokens } = authority.store;
  const token = call.params.get("token") ?? "";
  const grant = (refreshTokens.get(token) ?? accessTokens.get(token))?.grant;
  if (grant?.clientId === client.id) grant.isRevoked = true;
  // An unknown token counts as revoked.
  return json({});
}
