import { constants, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { claimsOf, readSigningKey, signJwt } from "../../../src/auth/oauth/jwt.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const pem = (key: KeyObject): string => String(key.export({ format: "pem", type: "pkcs8" }));
const raw = { dsaEncoding: "ieee-p1363" } as const;

test.each([
  ["ES256", ec("P-256"), "sha256", raw, []],
  ["ES384", ec("P-384"), "sha384", raw, []],
  ["ES512", ec("P-521"), "sha512", raw, []],
  ["EdDSA", generateKeyPairSync("ed25519"), null, {}, []],
  ["RS256", rsa, "sha256", {}, ["RS256", "PS256"]],
  ["PS256", rsa, "sha256", { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, ["PS256"]],
] as const)(
  "%s fits its key, and others can verify it",
  (algorithm, { privateKey, publicKey }, digest, how, accepted) => {
    const key = readSigningKey(pem(privateKey), accepted);
    expect(key.algorithm).toBe(algorithm);
    const token = signJwt({ iss: "me" }, key, { kid: "1" });
    const [header = "", payload = "", signature = ""] = token.split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: algorithm, kid: "1" });
    const signed = Buffer.from(`${header}.${payload}`);
    expect(verify(digest, signed, { key: publicKey, ...how }, Buffer.from(signature, "base64url"))).toBe(true);
    expect(claimsOf(token)).toEqual({ iss: "me" });
  },
);

test("a key may be a JWK, and a PEM may be in one line", () => {
  const { privateKey } = ec("P-256");
  const jwk = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "mine" });
  expect(readSigningKey(jwk)).toMatchObject({ algorithm: "ES256", keyId: "mine" });
  expect(readSigningKey(pem(privateKey).replaceAll("\n", "\\n")).algorithm).toBe("ES256");
  expect(readSigningKey(String(privateKey.export({ format: "pem", type: "sec1" }))).algorithm).toBe("ES256");
});

describe("a key that cannot sign is refused without being quoted", () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const locked = { format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" } as const;
  test.each([
    ["  ", "the key is empty"],
    [String(rsa.publicKey.export({ format: "pem", type: "spki" })), "the key is a public key"],
    [JSON.stringify(rsa.publicKey.export({ format: "jwk" })), "the key is a public key"],
    [String(rsa.privateKey.export(locked)), "the key has a passphrase"],
    [pem(small.privateKey), "the key has 1024 bits; 2048 is the minimum"],
    [pem(ec("secp256k1").privateKey), "no JWT algorithm fits the key type secp256k1"],
    [pem(generateKeyPairSync("x25519").privateKey), "no JWT algorithm fits the key type x25519"],
    ["-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", "the file is a certificate, not a private key"],
    [
      "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
      "the key is in OpenSSH form (convert it: ssh-keygen -p -m PKCS8 -f FILE)",
    ],
    ["{}", "the key is a public key"],
    ["something secret", "the text is not a private key in PEM or JWK form"],
  ])("%#", (text, message) => {
    expect(() => readSigningKey(text)).toThrow(expect.objectContaining({ code: "auth_failed", message }));
  });
});

test("what is no JWT has no claims", () => {
  for (const text of ["", "a.b", "a.b.c", `a.${Buffer.from("[]").toString("base64url")}.c`])
    expect(claimsOf(text)).toBeUndefined();
});
