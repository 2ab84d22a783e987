/**
 * Signs JWTs (RFC 7515) with a private key in PEM or JWK form. Also reads the claims of JWTs, without verifying them.
 */

import { constants, createPrivateKey, type KeyObject, type SignKeyObjectInput, sign } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";

/** A private key, and the algorithm with which it signs. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly algorithm: string;
  /** The member `kid` of the JWK. Undefined for a PEM. */
  readonly keyId?: string;
}

interface Algorithm {
  readonly digest: string | null;
  readonly options: Omit<SignKeyObjectInput, "key">;
}

const rawSignature = { dsaEncoding: "ieee-p1363" } as const;
const algorithms: Readonly<Record<string, Algorithm>> = {
  ES256: { digest: "sha256", options: rawSignature },
  ES384: { digest: "sha384", options: rawSignature },
  ES512: { digest: "sha512", options: rawSignature },
  RS256: { digest: "sha256", options: {} },
  PS256: { digest: "sha256", options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
  EdDSA: { digest: null, options: {} },
};
const curves: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
const smallestModulus = 2_048;

/**
 * Reads a private key, and chooses its algorithm.
 *
 * @param accepted The algorithms in the authorization server's metadata. They decide between RS256 (default) and PS256.
 * @throws HostError `auth_failed`. The message is only the reason, without the key's name or content.
 */
export function readSigningKey(text: string, accepted: readonly string[] = []): SigningKey {
  // In environment variables, a PEM is often one line, with the two characters "\n" for each line break.
  const pem = text.trim().replaceAll("\\n", "\n");
  const jwk = parseObject(pem);
  const flaw = flawOf(pem, jwk);
  if (flaw !== undefined) throw unusable(flaw);
  let key: KeyObject;
  try {
    key = createPrivateKey(jwk === undefined ? pem : { key: { ...jwk }, format: "jwk" });
  } catch {
    throw unusable("the text is not a private key in PEM or JWK form");
  }
  return { key, algorithm: algorithmOf(key, accepted), keyId: textIn(jwk, "kid") };
}

function flawOf(pem: string, jwk: JsonObject | undefined): string | undefined {
  if (pem === "") return "the key is empty";
  if (jwk !== undefined) return jwk["d"] === undefined ? "the key is a public key" : undefined;
  if (pem.includes("BEGIN CERTIFICATE")) return "the file is a certificate, not a private key";
  if (pem.includes("PUBLIC KEY-----")) return "the key is a public key";
  if (pem.includes("ENCRYPTED")) return "the key has a passphrase";
  if (pem.includes("OPENSSH PRIVATE KEY"))
    return "the key is in OpenSSH form (convert it: ssh-keygen -p -m PKCS8 -f FILE)";
  return undefined;
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject, accepted: readonly string[]): string {
  const { namedCurve = "", modulusLength = 0 } = asymmetricKeyDetails;
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "rsa") {
    if (modulusLength < smallestModulus)
      throw unusable(`the key has ${modulusLength} bits; ${smallestModulus} is the minimum`);
    return accepted.includes("PS256") && !accepted.includes("RS256") ? "PS256" : "RS256";
  }
  const algorithm = curves[namedCurve];
  if (algorithm === undefined) throw unusable(`no JWT algorithm fits the key type ${namedCurve || asymmetricKeyType}`);
  return algorithm;
}

function unusable(reason: string): HostError {
  return new HostError("auth_failed", reason);
}

/** Creates a signed JWT. Its header contains `alg` and the members of `header`. */
export function signJwt(claims: JsonObject, { key, algorithm }: SigningKey, header: JsonObject = {}): string {
  const { digest, options } = algorithms[algorithm] ?? { digest: null, options: {} };
  const signed = [{ alg: algorithm, ...header }, claims].map(encoded).join(".");
  return `${signed}.${sign(digest, Buffer.from(signed), { key, ...options }).toString("base64url")}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** Returns a JWT's claims without verifying them, or undefined if the text is not a JWT. Use them only for messages. */
export function claimsOf(token: string): JsonObject | undefined {
  const [, payload, signature] = token.split(".");
  return signature === undefined ? undefined : parseObject(Buffer.from(payload ?? "", "base64url").toString());
}
