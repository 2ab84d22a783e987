/** Verifies proofs of possession (RFC 9449) at the token endpoint and at the MCP server. */

import { createHash, type JsonWebKey } from "node:crypto";
import type { WebRequest } from "../web-server.ts";
import { type Answer, json } from "./answer.ts";
import type { Authority, Call } from "./authority.ts";
import { headerOf, keyOf, signedClaims, thumbprint } from "./jwt.ts";

/** The nonce that every proof must contain if the server requires nonces. */
export const nonce = "the-only-nonce";

/** How many seconds the time of a proof may differ from the server's clock. */
const window = 60;

interface Proof {
  readonly request: Pick<WebRequest, "headers" | "method">;
  readonly url: string;
  /** The access token in the request. */
  readonly accessToken?: string;
  readonly needsNonce: boolean;
}

/** Returns the thumbprint of the key that signed the proof, or the error of an invalid proof. */
export function checkProof(
  { request, url, accessToken, needsNonce }: Proof,
  { store, now }: Pick<Authority, "store" | "now">,
): { readonly key: string } | { readonly error: "invalid_dpop_proof" | "use_dpop_nonce" } {
  const wrong = { error: "invalid_dpop_proof" } as const;
  const text = String(request.headers["dpop"] ?? "");
  const { typ, alg, jwk } = headerOf(text);
  if (typ !== "dpop+jwt" || alg !== "ES256" || typeof jwk !== "object" || jwk === null || "d" in jwk) return wrong;
  const key = jwk as JsonWebKey;
  const claims = signedClaims(text, keyOf(key));
  if (!claims || claims["htm"] !== request.method || claims["htu"] !== url) return wrong;
  if (Math.abs(Number(claims["iat"]) - now() / 1000) > window) return wrong;
  const ath = accessToken && createHash("sha256").update(accessToken).digest("base64url");
  if (claims["ath"] !== ath) return wrong;
  if (typeof claims["jti"] !== "string" || store.spentJwts.has(claims["jti"])) return wrong;
  store.spentJwts.add(claims["jti"]);
  if (needsNonce && claims["nonce"] !== nonce) return { error: "use_dpop_nonce" };
  return { key: thumbprint(key) };
}

/** Returns the key to which the token will be bound; undefined if the server does not use DPoP. */
export function readProof({ request }: Call, authority: Authority): string | undefined | Answer {
  const { dpop } = authority.settings;
  if (dpop === "off") return undefined;
  const outcome = checkProof({ request, url: `${authority.issuer}/token`, needsNonce: dpop === "nonce" }, authority);
  if ("key" in outcome) return outcome.key;
  return json({ error: outcome.error }, 400, dpop === "nonce" ? { "dpop-nonce": nonce } : {});
}
