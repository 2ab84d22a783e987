import { expect, test } from "vitest";
import { stateOf } from "../signed-in-host.ts";
import { machineScene, newKey, workloadToken } from "./machine-scene.ts";

const connected = { status: "connected" };
const secret = { clientId: "machine", clientSecret: "a:secret with spaces" };
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

test.each(["client_secret_basic", "client_secret_post"] as const)(
  "client credentials with a secret: %s",
  async (authentication) => {
    await using scene = await machineScene(
      {
        clients: [{ ...secret, authentication }],
        metadata: { token_endpoint_auth_methods_supported: [authentication] },
      },
      { scopes: ["read"] },
    );
    const { authorization } = scene;
    await using host = await scene.host({ kind: "client_credentials", ...secret });
    await host.start();
    expect(stateOf(host)).toMatchObject(connected);
    const [asked, ...others] = authorization.callsTo("token");
    expect(others).toEqual([]);
    expect(Object.fromEntries(asked?.params ?? [])).toMatchObject({
      grant_type: "client_credentials",
      scope: "read",
      resource: scene.guarded.url,
    });
    expect(authorization.callsTo("registration")).toEqual([]);
  },
);

test("machineAuth: true takes the client of the entry", async () => {
  await using scene = await machineScene({ clients: [secret] });
  await using host = await scene.host(true, { entry: { oauth: secret } });
  await host.start();
  expect(stateOf(host)).toMatchObject(connected);
});

test.each(["file", "secret store", "variable"] as const)("private_key_jwt with a key from the %s", async (from) => {
  const key = newKey();
  await using scene = await machineScene({ clients: [{ clientId: "machine", publicKey: key.publicKey }] });
  await scene.folder.write("home/.keys/client.pem", key.pem);
  const where = {
    file: { privateKeyFile: "~/.keys/client.pem" },
    "secret store": { privateKey: "${secret:CLIENT_KEY}" },
    variable: { privateKey: "${CLIENT_KEY}" },
  }[from];
  const env: Record<string, string> = from === "variable" ? { CLIENT_KEY: key.pem.replaceAll("\n", "\\n") } : {};
  if (from === "secret store") {
    const { openSecretStore } = await import("../../../src/files/secrets/secret-store.ts");
    const fileStore = { FAIRLEAD_SECRET_STORE: "file" };
    const directory = `${scene.folder.path}/home/.fairlead`;
    await (await openSecretStore({ directory, env: fileStore, platform: process.platform })).set("CLIENT_KEY", key.pem);
  }
  await using host = await scene.host({ kind: "client_credentials", clientId: "machine", ...where }, { env });
  await host.start();
  expect(stateOf(host)).toMatchObject(connected);
});

test("a workload's JWT is read again when it has been rotated", async () => {
  const key = newKey();
  const issuer = "https://cloud.example";
  await using scene = await machineScene({ trustedIssuers: [{ issuer, publicKey: key.publicKey }] });
  const { authorization, folder } = scene;
  const first = workloadToken(key.privateKey, { iss: issuer, aud: authorization.issuer });
  const assertionFile = `${folder.path}/token`;
  await folder.write("token", `${first}\n`);
  await using host = await scene.host({ kind: "jwt_bearer", assertionFile });
  await host.start();
  expect(stateOf(host)).toMatchObject(connected);
  const second = workloadToken(key.privateKey, { iss: issuer, aud: authorization.issuer });
  await folder.write("token", second);
  authorization.expireTokens();
  await host.call("docs", "echo", { text: "again" });
  expect(authorization.callsTo("token", jwtBearer).map(({ params }) => params.get("assertion"))).toEqual([
    first,
    second,
  ]);
});

test("a workload's JWT comes from a variable, beside the client's own proof", async () => {
  const [workload, client] = [newKey(), newKey()];
  const issuer = "https://cloud.example";
  await using scene = await machineScene({
    trustedIssuers: [{ issuer, publicKey: workload.publicKey }],
    clients: [{ clientId: "machine", publicKey: client.publicKey }],
  });
  await scene.folder.write("home/key.pem", client.pem);
  const env = { WORKLOAD: workloadToken(workload.privateKey, { iss: issuer, aud: scene.authorization.issuer }) };
  const machineAuth = { kind: "jwt_bearer", clientId: "machine", privateKeyFile: "key.pem", assertionEnv: "WORKLOAD" };
  await using host = await scene.host(machineAuth, { env });
  await host.start();
  expect(stateOf(host)).toMatchObject(connected);
});
