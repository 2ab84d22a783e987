import { behaves, temporaryFolder, webServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { hostFor, stateOf } from "../signed-in-host.ts";
import { cloudPlatform, type GoogleScene, googleScene, headersOf } from "./google-scene.ts";

// Google's library looks for the machine's account once in a process: one scene for all tests of this file.
let scene: GoogleScene;
beforeAll(async () => {
  scene = await googleScene({ credentials: () => undefined });
  vi.stubEnv("GCE_METADATA_HOST", scene.google.metadataHost);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await scene[Symbol.asyncDispose]();
});

test("a machine in the cloud uses its own account", async () => {
  const hook = await scene.hookFor({ authProviderType: "google", oauth: { scopes: [cloudPlatform] } });
  const { authorization = "" } = await headersOf(hook);
  expect(scene.google.tokens.get(authorization.slice("Bearer ".length))).toMatchObject({
    account: "machine@project.iam.gserviceaccount.com",
    scopes: [cloudPlatform],
  });
});

test("and is told what its account may not do", async () => {
  const hook = await scene.hookFor({ authProviderType: "google", oauth: { scopes: [`${cloudPlatform}.more`] } });
  await expect(headersOf(hook)).rejects.toMatchObject({ code: "auth_failed", serverName: "cloud" });
});

test("a host reaches a server with it, if the person's settings let the server have it", async () => {
  await using web = await webServer((request, response) => {
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (scene.google.tokens.has(token)) return behaves(request, response);
    response.writeHead(401).end();
  });
  await using folder = await temporaryFolder();
  const entry = { authProviderType: "google_credentials", oauth: { scopes: [cloudPlatform] } };
  const url = `${web.origin}/mcp`;
  {
    await using host = await hostFor(folder, url, { entry });
    await host.start({ servers: ["docs"] });
    expect(stateOf(host)).toMatchObject({
      status: "disconnected",
      reason: "settings_invalid",
      next: 'If 127.0.0.1 may get Google tokens, add "127.0.0.1" to "fairlead.googleHosts" in your user settings.',
    });
    expect(web.seen).toEqual([]);
  }
  await using host = await hostFor(folder, url, { entry, own: { googleHosts: ["127.0.0.1"] } });
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ status: "connected" });
});
