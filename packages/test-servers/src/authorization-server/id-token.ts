/** Creates ID tokens: signed JSON Web Tokens that say who a person is. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The key with which all authorization servers of this process sign. */
export const signersKey: KeyObject = publicKey;

/** Creates an ID token that is valid for an hour. */
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
