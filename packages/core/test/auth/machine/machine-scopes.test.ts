import { expect, test } from "vitest";
import { stateOf } from "../signed-in-host.ts";
import { machineScene } from "./machine-scene.ts";

const client = { clientId: "machine", clientSecret: "quite secret" };
const machineAuth = { kind: "client_credentials", ...client };

test("a call that needs more scopes gets a token with all of them", async () => {
  await using scene = await machineScene({ clients: [client] }, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using host = await scene.host(machineAuth);
  await host.start();
  await host.call("docs", "echo", { text: "hi" });
  const scopes = scene.authorization.callsTo("token").map(({ params }) => params.get("scope"));
  expect(scopes).toEqual(["read", "read write"]);
});

test("a machine needs no refresh token, so it requests no offline_access", async () => {
  await using scene = await machineScene(
    { clients: [client], scopes: ["read", "offline_access"] },
    { scopes: ["read"] },
  );
  await using host = await scene.host(machineAuth);
  await host.start();
  expect(scene.authorization.callsTo("token").map(({ params }) => params.get("scope"))).toEqual(["read"]);
});

test("a scope that the client does not get is named, without another attempt", async () => {
  await using scene = await machineScene(
    { clients: [client], scopes: ["read"] },
    { scopes: ["read"], toolScopes: { echo: ["admin"] } },
  );
  await using host = await scene.host(machineAuth);
  await host.start();
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining("the authorization server does not grant the scopes read admin (invalid_scope)"),
  });
  expect(scene.authorization.callsTo("token")).toHaveLength(2);
});

test("credentials go to no other authorization server than at first", async () => {
  await using scene = await machineScene({ clients: [client] }, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using other = await machineScene({ clients: [client] });
  await using host = await scene.host(machineAuth);
  await host.start();
  scene.guarded.settings.metadata = { authorization_servers: [other.authorization.issuer] };
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining(`"docs" now names another authorization server: ${other.authorization.issuer}`),
  });
  expect(other.authorization.callsTo("token")).toEqual([]);
});

test("an issuer in the settings is the only one that gets the credentials", async () => {
  await using scene = await machineScene({ clients: [client] });
  await using other = await machineScene({ clients: [client] });
  scene.guarded.settings.metadata = { authorization_servers: [other.authorization.issuer] };
  await using host = await scene.host({ ...machineAuth, issuer: scene.authorization.issuer });
  await host.start();
  expect(stateOf(host)).toMatchObject({ status: "connected" });
  expect(other.authorization.seen).toEqual([]);
});
