/** Sign-ins through real replicas: a client asks, its user signs in on the page, and no token goes to anybody else. */

import {
  type AuthorizationServer,
  authorizationServer,
  type GuardedServer,
  guardedServer,
  redirectTo,
  type TestDatabase,
  testDatabase,
  type WebServer,
  webServer,
} from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "../../src/auth/api-key-verifier.ts";
import { type ReplicaProcess, sharedStore, type TeamScene, teamScene } from "../support/team-scene.ts";
import { openBrowser, type Person, person } from "./support/browser.ts";
import { type GatewayFront, gatewayFront } from "./support/gateway-front.ts";
import { type IdentityProvider, identityProvider } from "./support/identity-provider.ts";
import { legacyClient, modernClient } from "./support/raw-client.ts";

const database: TestDatabase | undefined = await testDatabase("sign-ins through replicas");
const browser: Browser | undefined = await openBrowser();
afterAll(async () => {
  await browser?.close();
  await database?.[Symbol.asyncDispose]();
});

describe.runIf(database !== undefined && browser !== undefined)("a client of two replicas", () => {
  let front: GatewayFront;
  let company: IdentityProvider;
  let issuer: AuthorizationServer;
  let server: GuardedServer;
  let thief: WebServer;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];
  let ada: Person;
  beforeAll(async () => {
    if (database === undefined || browser === undefined) return;
    front = await gatewayFront();
    company = await identityProvider(front.url);
    issuer = await authorizationServer({ consent: "automatic", scopes: ["read", "write"] });
    server = await guardedServer({ authorization: issuer, scopes: ["read"] });
    thief = await webServer((_, response) => response.writeHead(401).end());
    const { clientId, clientSecret } = company.settings.browser ?? {};
    scene = await teamScene(database, {
      servers: { notes: { httpUrl: server.url } },
      team: {
        url: front.url,
        auth: {
          issuers: [{ issuer: company.issuer, scopes: false, browser: { clientId, clientSecret } }],
          apiKeys: true,
        },
      },
    });
    replicas = await Promise.all([scene.start(), scene.start()]);
    front.replicas = replicas.map(({ origin }) => Number(new URL(origin).port));
    ada = await person(browser);
  });
  afterAll(async () => {
    await ada[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
    await thief[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await company[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
  });
  const tokenOf = (user: string) => company.sign({ sub: user, aud: `${front.url}/mcp`, client_id: "claude" });
  const urls = () => replicas.map((replica) => replica.urlOf());
  const signIn = async (address: string): Promise<void> => {
    await ada.open(address, "ada");
    await ada.page.locator("button.primary").click();
    await ada.page.waitForURL(`${front.url}/connect?done=notes`);
  };
  const disconnect = async (): Promise<void> => {
    await ada.open(`${front.url}/connect`, "ada");
    await ada.page.getByRole("button", { name: /^Disconnect/ }).click();
    expect(await ada.page.locator("h1").textContent()).toBe("Disconnected from notes");
  };
  const namesIn = (result: JsonObject) => (result["tools"] as readonly { name: string }[]).map(({ name }) => name);
  const canUrl = { elicitation: { url: {} } };
  const echo = { name: "echo", arguments: { text: "hello" } };

  it("is asked to open the page, waits for its user, and then uses the server at every replica", async () => {
    const [one = "", two = ""] = urls();
    const token = await tokenOf("ada");
    const client = modernClient(one, token, canUrl);
    const listed = await client("tools/list");
    expect(namesIn(listed)).toEqual(["sign_in"]);
    const wish = { name: "sign_in", arguments: { server: "notes" } };
    const asked = await client("tools/call", wish);
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { fairlead_sign_in: { method: "elicitation/create", params: { mode: "url" } } },
      requestState: expect.any(String),
    });
    const { inputRequests, requestState } = asked as {
      inputRequests: { fairlead_sign_in: { params: { url: string } } };
      requestState: string;
    };
    const { url } = inputRequests.fairlead_sign_in.params;
    expect(url).toMatch(new RegExp(`^${front.url}/connect/notes\\?s=k2\\.`));
    const answers = { inputResponses: { fairlead_sign_in: { action: "accept" } }, requestState };
    // The client repeats its request at the other replica, while the user is still on the page.
    const again = modernClient(two, token, canUrl);
    const [result] = await Promise.all([again("tools/call", { ...wish, ...answers }), signIn(url)]);
    expect(result).toMatchObject({
      content: [{ text: 'You are signed in to "notes". List the tools again to use it.' }],
    });
    for (const replica of [one, two]) {
      const other = modernClient(replica, token, canUrl);
      expect(namesIn(await other("tools/list"))).toEqual(["echo"]);
      expect(await other("tools/call", echo)).toMatchObject({ content: [{ type: "text", text: "hello" }] });
    }
    expect(issuer.callsTo("registration")).toHaveLength(1);
  });

  it("whose user has disconnected is asked again by the call itself", async () => {
    await disconnect();
    for (const replica of urls()) {
      const asked = await modernClient(replica, await tokenOf("ada"), canUrl)("tools/call", echo);
      expect(asked).toMatchObject({ resultType: "input_required" });
    }
  });

  it("that declined is told so, and sends nothing to the server", async () => {
    const client = modernClient(urls()[0] ?? "", await tokenOf("ada"), canUrl);
    const { requestState } = await client("tools/call", echo);
    const count = server.seen.length;
    const declined = { inputResponses: { fairlead_sign_in: { action: "decline" } }, requestState };
    await expect(client("tools/call", { ...echo, ...declined })).rejects.toThrow("did not agree to sign in");
    expect(server.seen).toHaveLength(count);
  });

  it("gets the link in words if it cannot open addresses", async () => {
    const result = await modernClient(urls()[0] ?? "", await tokenOf("ada"), {})("tools/call", echo);
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain(`${front.url}/connect/notes?s=k2.`);
  });

  it("of the legacy era gets error -32042 with the link, or words", async () => {
    const [one = ""] = urls();
    const able = await legacyClient(one, await tokenOf("ada"), canUrl);
    const error: unknown = await able("tools/call", echo).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      code: -32042,
      data: {
        elicitations: [
          { mode: "url", url: expect.stringContaining("/connect/notes?s="), elicitationId: expect.any(String) },
        ],
      },
    });
    const other = await legacyClient(one, await tokenOf("ada"), {});
    const result = await other("tools/call", echo);
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain(`${front.url}/connect/notes?s=k2.`);
  });

  it("with an API key is told that its user cannot sign in with a browser", async () => {
    if (database === undefined) return;
    const { key, text } = createApiKey({
      owner: { tenant: 1, principal: "machine" },
      scopes: ["mcp:call"],
      role: "user",
      networks: [],
      createdBy: "test",
    });
    const store = await sharedStore(database, scene);
    await store.apiKeys.add(key);
    await store.close();
    const wish = { name: "sign_in", arguments: { server: "notes" } };
    const client = modernClient(urls()[0] ?? "", text, canUrl);
    await client("tools/list");
    expect(JSON.stringify(await client("tools/call", wish))).toContain("cannot sign in with a browser");
  });

  it("whose user has too few scopes is asked to sign in for more", async () => {
    const [one = "", two = ""] = urls();
    await signIn(`${front.url}/connect/notes`);
    const token = await tokenOf("ada");
    server.settings.toolScopes = { echo: ["write"] };
    const asked = await modernClient(one, token, canUrl)("tools/call", echo);
    const { inputRequests, requestState } = asked as {
      inputRequests: { fairlead_sign_in: { params: { url: string; message: string } } };
      requestState: string;
    };
    const { url, message } = inputRequests.fairlead_sign_in.params;
    expect(message).toContain('"notes" needs more scopes: read write');
    const answers = { inputResponses: { fairlead_sign_in: { action: "accept" } }, requestState };
    const again = modernClient(two, token, canUrl);
    const [result] = await Promise.all([again("tools/call", { ...echo, ...answers }), signIn(url)]);
    expect(result).toMatchObject({ content: [{ text: "hello" }] });
    expect(issuer.callsTo("authorize").at(-1)?.params.get("scope")).toBe("read write");
    server.settings.toolScopes = {};
    await disconnect();
  });

  it("never sends its token, and the server's token never goes elsewhere", async () => {
    const token = await tokenOf("ada");
    const [one = ""] = urls();
    await signIn(`${front.url}/connect/notes`);
    const client = modernClient(one, token, canUrl);
    expect(await client("tools/call", echo)).toMatchObject({ content: [{ text: "hello" }] });
    // A refused token is renewed, and a redirect is not followed with it.
    issuer.expireTokens();
    expect(await client("tools/call", echo)).toMatchObject({ content: [{ text: "hello" }] });
    for (const instead of [redirectTo(thief.origin), redirectTo(`${thief.origin}/mcp`)]) {
      server.interrupt("mcp", instead);
      await client("tools/call", echo).catch(() => undefined);
    }
    await client("tools/list").catch(() => undefined);
    const seen = [...server.seen, ...issuer.requests, ...thief.seen];
    for (const { path, headers, body } of seen) {
      const text = JSON.stringify([path, headers, body]);
      expect(text).not.toContain(token);
      expect(text).not.toContain(token.split(".")[2]);
    }
    const secrets = [...issuer.secrets].filter((secret) => /^(?:access|refresh)-/.test(secret));
    for (const { path, headers, body } of thief.seen)
      for (const secret of secrets) expect(JSON.stringify([path, headers, body])).not.toContain(secret);
    // Clients get no token of the server either.
    for (const secret of secrets) expect(JSON.stringify(client.answers)).not.toContain(secret);
  });
});
