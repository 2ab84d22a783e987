/** ID tokens: signed JSON Web Tokens that say who someone is. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The key of everything that an authorization server of this process signs. */
export const signersKey: KeyObject = publicKey;

/** Valid for an hour. */
export function newIdToken(claims: Readonly<Record<string, unknown>>, typ = "JWT"): string {
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    { alg: "ES256", typ, kid: "only" },
    { iat: now, exp: now + 3600, ...claims },
  ]
    .map(encode)
    .join(".");
  return `${signed}.${signatureOf(signed, privateKey)}`;
}

export function publicKeys(): object {
  return { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "only", use: "sig", alg: "ES256" }] };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function signatureOf(text: string, key: KeyObject): string {
  return sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
}
