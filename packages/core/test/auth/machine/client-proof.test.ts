import { verify } from "node:crypto";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  type MachineProof,
  type MachineProofOptions,
  proveClient,
  readClientKey,
} from "../../../src/auth/machine/client-proof.ts";
import { newKey } from "./machine-scene.ts";

const { privateKey, publicKey, pem } = newKey();
const jwk = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "of the key" });

function prove(settings: object, client: MachineProofOptions["client"] = { clientId: "machine" }) {
  return proveClient({
    settings: { kind: "client_credentials", ...settings },
    serverName: "docs",
    client,
    audience: "https://login.example",
    now: () => 1_800_000_000_999,
  });
}

function partsOf(jwt = ""): readonly unknown[] {
  return jwt
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
}

/** Returns the form of a token request with this proof. */
async function formWith({ authenticate }: MachineProof): Promise<Record<string, string>> {
  const body = new URLSearchParams();
  await authenticate?.({ issuer: "https://login.example" }, { client_id: "machine" }, body, new Headers());
  return Object.fromEntries(body);
}

test("the client signs a JWT that is valid for a minute, and sends it with its ID in the form", async () => {
  const proof = await prove({ privateKey: pem });
  expect(proof).toMatchObject({ method: "private_key_jwt", key: '"privateKey"' });
  const form = await formWith(proof);
  expect(form).toEqual({
    client_id: "machine",
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: expect.any(String),
  });
  expect(partsOf(form["client_assertion"])).toEqual([
    { alg: "ES256", typ: "JWT" },
    {
      iss: "machine",
      sub: "machine",
      aud: "https://login.example",
      iat: 1_800_000_000,
      exp: 1_800_000_060,
      jti: expect.any(String),
    },
  ]);
  const [, signed = "", signature = ""] = /^(.+)\.(.+)$/.exec(form["client_assertion"] ?? "") ?? [];
  const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
  expect(verify("sha256", Buffer.from(signed), key, Buffer.from(signature, "base64url"))).toBe(true);
});

test("a request that is sent again contains another JWT", async () => {
  const proof = await prove({ privateKey: pem });
  const [one, two] = [await formWith(proof), await formWith(proof)];
  expect(one["client_assertion"]).not.toBe(two["client_assertion"]);
});

test.each([
  ["a JWK", "of the key", { privateKey: jwk }],
  ["a JWK and a key ID in the settings", "of the settings", { privateKey: jwk, keyId: "of the settings" }],
  ["a PEM and a key ID in the settings", "of the settings", { privateKey: pem, keyId: "of the settings" }],
])("with %s, the client's JWT has the key ID %s", async (_, kid, settings) => {
  const form = await formWith(await prove(settings));
  expect(partsOf(form["client_assertion"])[0]).toEqual({ alg: "ES256", typ: "JWT", kid });
});

test("the proof names the file that the client's key comes from", async () => {
  await using folder = await temporaryFolder();
  await folder.write("key.pem", pem);
  const file = join(folder.path, "key.pem");
  expect(await prove({ privateKeyFile: file })).toMatchObject({ method: "private_key_jwt", key: file });
});

test("without a key, the client sends its secret by the method it is registered for, or only its ID", async () => {
  const secret = { clientId: "machine", clientSecret: "quiet" };
  expect(await prove({}, secret)).toEqual({ method: "client_secret_basic" });
  const authentication = "client_secret_post";
  expect(await prove({}, { ...secret, authentication })).toEqual({ method: authentication });
  expect(await prove({})).toEqual({ method: "none" });
});

test("a token request without a client contains no proof of a client", async () => {
  const options = { serverName: "docs", audience: "https://login.example", now: () => 0 };
  expect(
    await proveClient({ ...options, settings: { kind: "jwt_bearer", privateKey: pem }, client: undefined }),
  ).toEqual({ method: "none" });
});

test("the user learns which setting names a key that cannot be used, and why", async () => {
  await using folder = await temporaryFolder();
  await folder.write("public.pem", "-----BEGIN PUBLIC KEY-----");
  const failure = (settings: object) =>
    readClientKey({ settings: { kind: "client_credentials", ...settings }, serverName: "docs" }).catch(
      (error: unknown) => error,
    );
  const [absent, broken] = ["absent.pem", "public.pem"].map((name) => join(folder.path, name));
  const begin = 'private key of "docs" cannot be used: ';
  const errorAbout = (setting: string) => ({
    code: "auth_failed",
    serverName: "docs",
    next: `Correct "${setting}" under machineAuth of "docs".`,
  });
  expect(await failure({ privateKeyFile: absent })).toMatchObject({
    message: `${begin}${absent}: the file does not exist`,
    ...errorAbout("privateKeyFile"),
  });
  expect(await failure({ privateKeyFile: folder.path })).toMatchObject({
    message: `${begin}${folder.path}: it is a folder, not a file`,
    ...errorAbout("privateKeyFile"),
  });
  expect(await failure({ privateKeyFile: broken })).toMatchObject({
    message: `${begin}${broken}: the key is a public key`,
    ...errorAbout("privateKeyFile"),
  });
  for (const settings of [{}, { privateKey: "" }])
    expect(await failure(settings)).toMatchObject({
      message: `${begin}"privateKey": the key is empty`,
      ...errorAbout("privateKey"),
    });
});
