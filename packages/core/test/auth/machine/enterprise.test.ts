import { authorizationServer, newIdToken, signersKey } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { stateOf } from "../signed-in-host.ts";
import { machineScene } from "./machine-scene.ts";

const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

test.each(["issuer", "tokenUrl"] as const)(
  "an ID token becomes an ID-JAG, and the ID-JAG a token (identity provider by its %s)",
  async (by) => {
    await using idp = await authorizationServer({ clients: [{ clientId: "app", clientSecret: "idp secret" }] });
    await using scene = await machineScene(
      {
        clients: [{ clientId: "app-there", clientSecret: "quite secret" }],
        trustedIssuers: [{ issuer: idp.issuer, publicKey: signersKey }],
      },
      { scopes: ["read"] },
    );
    const { authorization, guarded } = scene;
    await scene.folder.write("id-token", newIdToken({ iss: idp.issuer, aud: "app", sub: "someone" }));
    await using host = await scene.host({
      kind: "enterprise",
      clientId: "app-there",
      clientSecret: "quite secret",
      assertionFile: `${scene.folder.path}/id-token`,
      identityProvider: {
        ...(by === "issuer" ? { issuer: idp.issuer } : { tokenUrl: `${idp.issuer}/token` }),
        clientId: "app",
        clientSecret: "idp secret",
      },
    });
    await host.start();
    expect(stateOf(host)).toMatchObject({ status: "connected" });
    const [asked] = idp.callsTo("token", exchange);
    expect(Object.fromEntries(asked?.params ?? [])).toMatchObject({
      audience: authorization.issuer,
      resource: guarded.url,
      scope: "read",
    });
    expect(authorization.callsTo("token", jwtBearer)).toHaveLength(1);
  },
);

test("an identity provider that gives another token than an ID-JAG is not believed", async () => {
  await using idp = await authorizationServer({ clients: [{ clientId: "app" }] });
  await using scene = await machineScene({ clients: [{ clientId: "app-there" }] });
  await scene.folder.write("id-token", newIdToken({ iss: idp.issuer, aud: "app", sub: "someone" }));
  idp.interrupt("token", (_request, response) => {
    const body = { access_token: "x", token_type: "N_A", issued_token_type: "urn:ietf:params:oauth:token-type:jwt" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await using host = await scene.host({
    kind: "enterprise",
    clientId: "app-there",
    assertionFile: `${scene.folder.path}/id-token`,
    identityProvider: { issuer: idp.issuer, clientId: "app" },
  });
  await host.start();
  expect(stateOf(host)).toMatchObject({
    status: "disconnected",
    message: expect.stringMatching(/^token exchange for "docs" failed: .* the issued token is not an ID-JAG/),
  });
  expect(scene.authorization.callsTo("token")).toEqual([]);
});

test.each([
  ["tokenUrl", "http://idp.example/token"],
  ["issuer", "http://idp.example"],
])("an identity provider without encryption gets nothing: %s", async (name, address) => {
  await using scene = await machineScene({ clients: [{ clientId: "app-there" }] });
  await scene.folder.write("id-token", newIdToken({ aud: "app", sub: "someone" }));
  await using host = await scene.host({
    kind: "enterprise",
    clientId: "app-there",
    assertionFile: `${scene.folder.path}/id-token`,
    identityProvider: { [name]: address, clientId: "app" },
  });
  await host.start();
  expect(stateOf(host)).toMatchObject({
    message: `identity provider of "docs" cannot be used: "${address}" is not an https address`,
  });
});
