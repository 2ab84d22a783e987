/** Verifies JSON Web Tokens: signature, audience and times, and that a token is not used twice. */

import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import type { Authority } from "./authority.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** What a verifier requires of a JWT. */
interface Expectations extends Pick<Authority, "store" | "now"> {
  readonly audiences: readonly string[];
  /**
   * Whether the JWT may be used only once. A client signs a new JWT for each request, but a workload reuses its JWT.
   */
  readonly isOnce: boolean;
}

/** How many seconds two clocks may differ. */
const tolerance = 30;

/** Returns the claims of a JWT; undefined if it is not valid for this audience and time, or was used before. */
export function verifiedClaims(jwt: string, key: KeyObject, expected: Expectations): Claims | undefined {
  const claims = signedClaims(jwt, key);
  if (!claims) return undefined;
  const now = expected.now() / 1000;
  const { aud, exp, iat, nbf = iat, jti } = claims;
  const isMeant = [aud].flat().some((audience) => expected.audiences.includes(String(audience)));
  const isCurrent = Number(exp) > now - tolerance && (nbf === undefined || Number(nbf) < now + tolerance);
  if (!isMeant || !isCurrent) return undefined;
  if (!expected.isOnce) return claims;
  if (expected.store.spentJwts.has(String(jti))) return undefined;
  expected.store.spentJwts.add(String(jti));
  return claims;
}

/** Returns the claims of a JWT; undefined if it is unsigned or another key signed it. */
export function signedClaims(jwt: string, key: KeyObject): Claims | undefined {
  const [header = "", payload = "", signature = ""] = jwt.split(".");
  const { alg } = headerOf(jwt);
  const digest = { ES256: "sha256", ES384: "sha384", RS256: "sha256", EdDSA: null }[String(alg)];
  if (digest === undefined) return undefined;
  const how = { key, ...(String(alg).startsWith("ES") && { dsaEncoding: "ieee-p1363" as const }) };
  const isRight = verify(digest, Buffer.from(`${header}.${payload}`), how, Buffer.from(signature, "base64url"));
  return isRight ? decode(payload) : undefined;
}

export function headerOf(jwt: string): Claims {
  return decode(jwt.split(".")[0] ?? "") ?? {};
}

/** Returns the claims of a JWT without checking its signature. */
export function decode(part: string): Claims | undefined {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString()) as Claims;
  } catch {
    return undefined;
  }
}

/** Returns the thumbprint of an elliptic-curve key (RFC 7638). */
export function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
}

export function keyOf(jwk: JsonWebKey): KeyObject {
  return createPublicKey({ key: jwk, format: "jwk" });
}
