import { expect, test } from "vitest";
import { person } from "../person.ts";
import { stateOf } from "../signed-in-host.ts";
import { machineScene } from "./machine-scene.ts";

const client = { clientId: "machine", clientSecret: "quite secret" };
const machineAuth = { kind: "client_credentials", ...client };

test.each(["key", "nonce"] as const)("a machine proves its key where the server asks for it (%s)", async (dpop) => {
  await using scene = await machineScene({ clients: [client], dpop });
  const { authorization, guarded } = scene;
  {
    await using host = await scene.host(machineAuth);
    await host.start();
    expect(stateOf(host)).toMatchObject({ status: "connected" });
    authorization.expireTokens();
    await host.call("docs", "echo", { text: "with a new token" });
  }
  // Another process uses the stored token, with the stored key.
  const before = authorization.callsTo("token").length;
  await using host = await scene.host(machineAuth);
  await host.start();
  expect(stateOf(host)).toMatchObject({ status: "connected" });
  expect(authorization.callsTo("token")).toHaveLength(before);
  const proofs = guarded.seen.flatMap(({ headers }) => headers["dpop"] ?? []);
  expect(proofs.length).toBeGreaterThan(4);
  expect(new Set(proofs).size).toBe(proofs.length);
});

test.each(["key", "nonce"] as const)("a person's token is bound to a key in the same way (%s)", async (dpop) => {
  await using scene = await machineScene({ dpop });
  await using host = await scene.host(undefined, {}, { signIn: person().ui });
  await host.start();
  expect(stateOf(host)).toMatchObject({ status: "connected" });
  scene.authorization.expireTokens();
  await host.call("docs", "echo", { text: "after a refresh" });
  expect(scene.authorization.callsTo("token", "refresh_token").length).toBeGreaterThan(0);
  const schemes = scene.guarded.seen.flatMap(({ headers }) => headers.authorization?.split(" ")[0] ?? []);
  expect(new Set(schemes)).toEqual(new Set(["DPoP"]));
});

test("a bearer token is refused if the server asks for a key", async () => {
  await using scene = await machineScene({ clients: [client] }, { challenge: "DPoP" });
  await using host = await scene.host(machineAuth);
  await host.start();
  expect(stateOf(host)).toMatchObject({
    status: "disconnected",
    message: expect.stringContaining('the token_type is "Bearer"; it must be DPoP'),
  });
});

test("a clock that makes a proof useless is named, at the token endpoint and at the server", async () => {
  await using scene = await machineScene({ clients: [client], dpop: "key", clockLead: 5 * 60_000 });
  const { authorization } = scene;
  const words = "this machine's clock is 5 min behind";
  {
    await using host = await scene.host(machineAuth);
    await host.start();
    expect(stateOf(host)).toMatchObject({ reason: "auth_failed", message: expect.stringContaining(words) });
  }
  authorization.settings.clockLead = 0;
  await using host = await scene.host(machineAuth);
  await host.start();
  authorization.settings.clockLead = 5 * 60_000;
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining(`"docs" rejected a request's DPoP proof: ${words}`),
  });
});
