import { createHash, createPublicKey, verify } from "node:crypto";
import { expect, test } from "vitest";
import { createDpopProofs, newDpopKey } from "../../../src/auth/oauth/dpop.ts";

const url = "https://login.example/token?a=1#b";

function partsOf(proof: string): readonly [Record<string, unknown>, Record<string, unknown>] {
  const [header = "", payload = ""] = proof.split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return [read(header), read(payload)];
}

test("the server can verify a proof with the public key in it, which has no private part", () => {
  const proof = createDpopProofs(newDpopKey()).proofFor({ method: "POST", url, now: 1_999 });
  const [header, claims] = partsOf(proof);
  expect(header).toEqual({
    alg: "ES256",
    typ: "dpop+jwt",
    jwk: { kty: "EC", crv: "P-256", x: expect.any(String), y: expect.any(String) },
  });
  expect(claims).toEqual({ jti: expect.any(String), htm: "POST", htu: "https://login.example/token", iat: 1 });
  const key = createPublicKey({ key: header["jwk"] as Record<string, string>, format: "jwk" });
  const [signed, signature = ""] = [proof.slice(0, proof.lastIndexOf(".")), proof.split(".")[2]];
  const how = { key, dsaEncoding: "ieee-p1363" } as const;
  expect(verify("sha256", Buffer.from(signed), how, Buffer.from(signature, "base64url"))).toBe(true);
});

test("a proof for a request with a token contains the token's digest, and no two proofs have the same ID", () => {
  const proofs = createDpopProofs(newDpopKey());
  const [one, two] = [1, 2].map(
    () => partsOf(proofs.proofFor({ method: "GET", url, accessToken: "secret", now: 5_000 }))[1],
  );
  expect(one).toMatchObject({ htm: "GET", iat: 5, ath: createHash("sha256").update("secret").digest("base64url") });
  expect(one?.["jti"]).not.toBe(two?.["jti"]);
});

test("the server's last nonce is in all later proofs to its origin, and in no others", () => {
  const proofs = createDpopProofs(newDpopKey());
  const nonceFor = (address: string) => partsOf(proofs.proofFor({ method: "GET", url: address, now: 0 }))[1]["nonce"];
  expect(proofs.keepNonce(url, "n1")).toBe(true);
  expect(proofs.keepNonce("https://login.example/other", "n1")).toBe(false);
  expect([nonceFor("https://login.example/third"), nonceFor("https://docs.example/")]).toEqual(["n1", undefined]);
  expect(proofs.keepNonce(url, "n2")).toBe(true);
  expect(nonceFor(url)).toBe("n2");
});

test("a nonce that is empty or longer than 1000 characters is not kept", () => {
  const proofs = createDpopProofs(newDpopKey());
  const kept = ["", "n".repeat(1_001), "n".repeat(1_000)].map((nonce) => proofs.keepNonce(url, nonce));
  expect(kept).toEqual([false, false, true]);
});
