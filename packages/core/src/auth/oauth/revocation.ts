/** Revokes tokens at the authorization server (RFC 7009). */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials } from "../store/credentials.ts";
import { postForm } from "./endpoint-request.ts";

/** Result of a revocation. It is not an error: signing out continues with any of them. */
export type Revocation = "revoked" | "unsupported" | "failed";

/** Revokes the refresh token first, because most servers then revoke the whole grant. Never rejects. */
export async function revokeTokens({ endpoints, client, tokens }: Credentials, fetch: Fetch): Promise<Revocation> {
  const url = endpoints.revocation;
  if (url === undefined || tokens === undefined) return "unsupported";
  const { refreshToken, accessToken } = tokens;
  const revoke = async (token: string, hint: string) => {
    const parameters = { token, token_type_hint: hint };
    const response = await postForm({ url, client, parameters, fetch }).catch(() => undefined);
    return response?.ok ?? false;
  };
  const isRefreshRevoked = refreshToken === undefined || (await revoke(refreshToken, "refresh_token"));
  const isAccessRevoked = await revoke(accessToken, "access_token");
  return isRefreshRevoked && isAccessRevoked ? "revoked" : "failed";
}
