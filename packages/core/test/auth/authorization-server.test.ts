import {
  type AuthorizationSettings,
  authorizationServer,
  browser,
  type GuardSettings,
  status,
  webServer,
} from "@fairlead/test-servers";
import { exchangeAuthorization, registerClient, startAuthorization } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { both } from "./both-servers.ts";
import { answer, call, exchange, signIn, start } from "./official-client.ts";

describe("the official client signs in", () => {
  test.each<[string, Partial<AuthorizationSettings>, Partial<GuardSettings> & { readonly isSameOrigin?: boolean }]>([
    ["where everything is usual", {}, {}],
    ["where the issuer has a path", { issuerPath: "/tenant" }, {}],
    ["where the metadata is OpenID's", { metadataAt: "openid" }, {}],
    ["where the metadata is OpenID's and the path inserted", { metadataAt: "openid", issuerPath: "/tenant" }, {}],
    ["where the path is prepended", { metadataAt: "openid-appended", issuerPath: "/tenant" }, {}],
    ["where the resource is described at the root", {}, { metadataAt: "root", challenge: "Bearer" }],
    ["where only the challenge tells of the metadata", {}, { metadataAt: "elsewhere" }],
    ["where nothing is told by the challenge", {}, { challenge: "" }],
    ["where both are at one origin", {}, { isSameOrigin: true }],
    ["with a secret in the header", { clientAuthentication: "client_secret_basic" }, {}],
    ["with a secret in the form", { clientAuthentication: "client_secret_post", clientSecretLife: 60 }, {}],
  ])("%s", async (_where, settings, guard) => {
    await using servers = await both(settings, guard);
    const { tokens } = await signIn(servers.guarded);
    expect(await call(servers.guarded, tokens.access_token)).toBe(200);
  });
});

test("before there was metadata, only the paths are known", async () => {
  await using servers = await both(
    { metadataAt: "nowhere", requiresResource: false, consent: "automatic" },
    { metadataAt: "nowhere", isSameOrigin: true },
  );
  const { origin } = servers.guarded;
  expect((await fetch(`${origin}/.well-known/oauth-protected-resource`)).status).toBe(404);
  expect((await fetch(`${origin}/.well-known/oauth-authorization-server`)).status).toBe(404);
  const clientMetadata = { redirect_uris: ["http://127.0.0.1/callback"], application_type: "native" };
  const grants = { grant_types: ["authorization_code"] };
  const clientInformation = await registerClient(origin, { clientMetadata: { ...clientMetadata, ...grants } });
  const redirectUrl = "http://127.0.0.1:1/callback";
  const begun = await startAuthorization(origin, { clientInformation, redirectUrl });
  const tokens = await exchangeAuthorization(origin, {
    clientInformation,
    redirectUri: redirectUrl,
    codeVerifier: begun.codeVerifier,
    authorizationCode: (await answer(begun.authorizationUrl)).get("code") ?? "",
  });
  expect(await call(servers.guarded, tokens.access_token)).toBe(200);
});

test("over TLS the browser believes the certificate of the tests", async () => {
  await using authorization = await authorizationServer({ secure: true });
  const { status: shown, body } = await browser(`${authorization.issuer}/authorize?client_id=nobody`);
  expect({ shown, body }).toEqual({ shown: 400, body: expect.stringContaining("not known here") as string });
});

describe("a person", () => {
  test("is sent back with the state, the issuer and a code", async () => {
    await using servers = await both();
    const answered = await answer((await start(servers.guarded)).url);
    expect(Object.fromEntries(answered)).toEqual({
      state: "a state",
      iss: servers.authorization.issuer,
      code: expect.stringMatching(/^code-/) as string,
    });
  });

  test("who says no is sent back with an error", async () => {
    await using servers = await both();
    const answered = await answer((await start(servers.guarded)).url, "deny");
    expect(answered.get("error")).toBe("access_denied");
  });

  test("comes to the callback with what the browser was told to change", async () => {
    await using servers = await both();
    await using listener = await webServer(status(400));
    const { url } = await start(servers.guarded);
    url.searchParams.set("redirect_uri", `${listener.origin}/callback`);
    const { address, body } = await browser(url, { change: ({ searchParams }) => searchParams.set("state", "wrong") });
    expect(listener.seen.map(({ path }) => path)).toEqual([address.slice(listener.origin.length)]);
    expect(new URL(address).searchParams.get("state")).toBe("wrong");
    expect(body).toBe("status 400, sorry");
  });

  test.each([
    ["an unknown client", "client_id", "nobody", 400],
    ["another address to go back to", "redirect_uri", "https://evil.example/callback", 400],
  ])("is not sent anywhere for %s", async (_what, name, value, expected) => {
    await using servers = await both();
    const { url } = await start(servers.guarded);
    url.searchParams.set(name, value);
    const { address, status: shown } = await browser(url);
    expect({ shown, at: new URL(address).origin }).toEqual({ shown: expected, at: servers.authorization.origin });
  });

  test.each([
    ["without a challenge", "code_challenge", "", "invalid_request"],
    ["with a plain challenge", "code_challenge_method", "plain", "invalid_request"],
    ["for a scope that there is not", "scope", "everything", "invalid_scope"],
    ["for another kind of answer", "response_type", "token", "unsupported_response_type"],
  ])("is not asked %s", async (_what, name, value, error) => {
    await using servers = await both();
    const { url } = await start(servers.guarded);
    url.searchParams.set(name, value);
    expect((await answer(url)).get("error")).toBe(error);
  });

  test("is not asked where no resource is named", async () => {
    await using servers = await both();
    const { url } = await start(servers.guarded);
    url.searchParams.delete("resource");
    expect((await answer(url)).get("error")).toBe("invalid_target");
  });

  test("answers a question once", async () => {
    await using servers = await both();
    const { url } = await start(servers.guarded);
    const request = /name="request" value="([^"]*)"/.exec(await (await fetch(url)).text())?.[1] ?? "";
    const say = () =>
      fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams({ request, decision: "approve" }) });
    expect([(await say()).status, (await say()).status]).toEqual([302, 400]);
  });

  test.each<[AuthorizationSettings["iss"], (issuer: string) => string | null]>([
    ["right", (issuer) => issuer],
    ["wrong", () => "https://someone-else.example"],
    ["with-slash", (issuer) => `${issuer}/`],
    ["absent", () => null],
  ])("is sent back with an issuer that is %s", async (iss, expected) => {
    await using servers = await both({ iss, consent: "automatic" });
    const answered = await answer((await start(servers.guarded)).url);
    expect(answered.get("iss")).toBe(expected(servers.authorization.issuer));
  });
});

describe("a code", () => {
  test("is good once; the second time ends what the first time gave", async () => {
    await using servers = await both();
    const started = await start(servers.guarded);
    const answered = await answer(started.url);
    const tokens = await exchange(started, answered);
    await expect(exchange(started, answered)).rejects.toThrow("used before");
    expect(await call(servers.guarded, tokens.access_token)).toBe(401);
  });

  test("needs its verifier", async () => {
    await using servers = await both();
    const started = await start(servers.guarded);
    const answered = await answer(started.url);
    await expect(exchange({ ...started, verifier: "x".repeat(43) }, answered)).rejects.toThrow("does not match");
  });

  test("is good for its resource only", async () => {
    await using servers = await both();
    const started = await start(servers.guarded);
    const answered = await answer(started.url);
    const resource = new URL("https://elsewhere.example/mcp");
    await expect(exchange({ ...started, resource }, answered)).rejects.toThrow("not the one that was authorized");
  });
});
