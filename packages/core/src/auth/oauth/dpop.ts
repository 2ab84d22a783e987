/**
 * Creates DPoP proofs (RFC 9449). A proof shows that the sender of a token has the token's key. Servers may require a
 * nonce in each proof.
 */

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { parseObject } from "@fairlead/wire/json";
import { type SigningKey, signJwt } from "./jwt.ts";

/** Creates proofs with one key, and keeps the nonces of servers. */
export interface DpopProofs {
  /** Creates a proof for one request. A server accepts it only once. */
  readonly proofFor: (request: DpopRequest) => string;
  /** Stores the nonce for further proofs to the origin of `url`. Returns false if it is invalid or already stored. */
  readonly keepNonce: (url: string, nonce: string) => boolean;
}

/** The request that a proof is for. */
export interface DpopRequest {
  readonly method: string;
  readonly url: string;
  /** The token in the request. Undefined for a token request. */
  readonly accessToken?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const longestNonce = 1_000;

/** Creates a private key (P-256), and returns it as JWK text. */
export function newDpopKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return JSON.stringify(privateKey.export({ format: "jwk" }));
}

/**
 * Creates proofs with the given key.
 *
 * @param jwk The key, as `newDpopKey` returns it.
 */
export function createDpopProofs(jwk: string): DpopProofs {
  const key = createPrivateKey({ key: { ...parseObject(jwk) }, format: "jwk" });
  const { kty, crv, x, y } = createPublicKey(key).export({ format: "jwk" });
  const signing: SigningKey = { key, algorithm: "ES256" };
  const header: JsonObject = { typ: "dpop+jwt", jwk: { kty: kty ?? "", crv: crv ?? "", x: x ?? "", y: y ?? "" } };
  const nonces = new Map<string, string>();
  return {
    proofFor({ method, url, accessToken, now }) {
      const { origin, pathname } = new URL(url);
      const claims = {
        jti: randomUUID(),
        htm: method,
        htu: `${origin}${pathname}`,
        iat: Math.floor(now / 1000),
        ath: accessToken && createHash("sha256").update(accessToken).digest("base64url"),
        nonce: nonces.get(origin),
      };
      return signJwt(claims, signing, header);
    },
    keepNonce(url, nonce) {
      const { origin } = new URL(url);
      if (nonce === "" || nonce.length > longestNonce || nonces.get(origin) === nonce) return false;
      nonces.set(origin, nonce);
      return true;
    },
  };
}
