import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import {
  after,
  answerLost,
  authorizationServer,
  browser,
  guardedServer,
  oversized,
  silence,
  status,
  webServer,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { both } from "./both-servers.ts";
import { answer, call, exchange, refresh, signIn, start } from "./official-client.ts";

describe("a refresh token", () => {
  test("that rotates gives another one and ends everything when it comes again", async () => {
    await using servers = await both();
    const first = await signIn(servers.guarded, "read");
    const second = await refresh(first, first.tokens.refresh_token ?? "");
    expect(second).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "read" });
    expect(second.refresh_token).not.toBe(first.tokens.refresh_token);
    expect(await call(servers.guarded, second.access_token)).toBe(200);

    await expect(refresh(first, first.tokens.refresh_token ?? "")).rejects.toThrow("used before");
    expect(await call(servers.guarded, second.access_token)).toBe(401);
    await expect(refresh(first, second.refresh_token ?? "")).rejects.toThrow("its grant has ended");
  });

  test("that lasts can be used again", async () => {
    await using servers = await both({ refreshTokens: "lasting" });
    const started = await signIn(servers.guarded);
    await refresh(started, started.tokens.refresh_token ?? "");
    const { access_token: token } = await refresh(started, started.tokens.refresh_token ?? "");
    expect(await call(servers.guarded, token)).toBe(200);
    servers.authorization.revokeGrants();
    await expect(refresh(started, started.tokens.refresh_token ?? "")).rejects.toThrow("has ended");
  });

  test("is not given where there are none", async () => {
    await using servers = await both({ refreshTokens: "none", expiresIn: undefined });
    const { tokens } = await signIn(servers.guarded);
    expect(Object.keys(tokens).toSorted()).toEqual(["access_token", "token_type"]);
  });

  test("is of no use to a client that was forgotten", async () => {
    await using servers = await both();
    const started = await signIn(servers.guarded);
    servers.authorization.forgetClients();
    await expect(refresh(started, started.tokens.refresh_token ?? "")).rejects.toMatchObject({
      code: "invalid_client",
    });
  });
});

test("an access token ends with its time, and when told so", async () => {
  await using servers = await both({ expiresIn: 0 });
  const { tokens } = await signIn(servers.guarded);
  expect(await call(servers.guarded, tokens.access_token)).toBe(401);
  servers.authorization.settings.expiresIn = 3600;
  const { tokens: later } = await signIn(servers.guarded);
  expect(await call(servers.guarded, later.access_token)).toBe(200);
  servers.authorization.expireTokens();
  expect(await call(servers.guarded, later.access_token)).toBe(401);
});

describe("an interrupted endpoint", () => {
  test("answers as it is told, as often as it is told, then as usual", async () => {
    await using servers = await both();
    const started = await start(servers.guarded);
    const answered = await answer(started.url);
    servers.authorization.interrupt("token", status(503), 2);
    await expect(exchange(started, answered)).rejects.toThrow();
    await expect(exchange(started, answered)).rejects.toThrow();
    await exchange(started, answered);
    expect(servers.authorization.callsTo("token", "authorization_code")).toHaveLength(3);
  });

  test("can do its work and lose the answer", async () => {
    await using servers = await both();
    const started = await signIn(servers.guarded);
    const token = started.tokens.refresh_token ?? "";
    servers.authorization.interrupt("token", answerLost);
    await expect(refresh(started, token)).rejects.toThrow("fetch failed");
    await expect(refresh(started, token)).rejects.toThrow("used before");
  });

  test("can wait, say nothing, or say too much", async () => {
    await using servers = await both();
    const { origin } = servers.authorization;
    const address = `${origin}/.well-known/oauth-authorization-server`;
    const aborting = new AbortController();
    let happened = () => {};
    servers.authorization.interrupt("metadata", after(new Promise<void>((resolve) => (happened = resolve))));
    const waiting = fetch(address);
    happened();
    expect((await waiting).status).toBe(200);
    servers.authorization.interrupt("metadata", oversized(100_000));
    expect((await (await fetch(address)).text()).length).toBeGreaterThan(100_000);
    servers.authorization.interrupt("metadata", silence);
    const silent = fetch(address, { signal: aborting.signal });
    aborting.abort();
    await expect(silent).rejects.toThrow("aborted");
  });
});

describe("a client", () => {
  test("that registers gets back all it said, and more than it needs", async () => {
    await using servers = await both({ clientAuthentication: "client_secret_post", clientSecretLife: 60 });
    const { issuer } = servers.authorization;
    const said = {
      redirect_uris: ["http://127.0.0.1/callback"],
      application_type: "native",
      grant_types: ["authorization_code"],
      client_name: "Ours",
    };
    const answered = await fetch(`${issuer}/register`, { method: "POST", body: JSON.stringify(said) });
    expect(await answered.json()).toEqual({
      ...said,
      client_id: expect.stringMatching(/^client-/) as string,
      client_id_issued_at: expect.any(Number) as number,
      client_secret: expect.stringMatching(/^client-secret-/) as string,
      client_secret_expires_at: expect.any(Number) as number,
      token_endpoint_auth_method: "client_secret_post",
      registration_client_uri: expect.stringContaining(`${issuer}/register/client-`) as string,
      registration_access_token: expect.stringMatching(/^registration-/) as string,
    });
  });

  test.each([
    ["is refused where clients are registered by hand", "refused", { application_type: "native" }, 403],
    ["finds no such endpoint where there is none", "absent", { application_type: "native" }, 404],
    ["must be native to be sent back to this computer", "open", {}, 400],
    ["must ask for the grant it wants to use", "open", { application_type: "native", grant_types: ["implicit"] }, 400],
  ] as const)("%s", async (_what, registration, said, expected) => {
    await using servers = await both({ registration });
    const body = { redirect_uris: ["http://127.0.0.1/callback"], grant_types: ["authorization_code"], ...said };
    const address = `${servers.authorization.issuer}/register`;
    expect((await fetch(address, { method: "POST", body: JSON.stringify(body) })).status).toBe(expected);
  });

  test("that was registered by hand proves itself with its secret", async () => {
    const clients = [{ clientId: "ours", clientSecret: "a secret", redirectUris: ["http://127.0.0.1/callback"] }];
    await using servers = await both({ clients });
    const ask = (secret: string) =>
      fetch(`${servers.authorization.issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`ours:${encodeURIComponent(secret)}`)}` },
        body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "none" }),
      }).then((answered) => answered.json());
    expect(await ask("a secret")).toMatchObject({ error: "invalid_grant" });
    expect(await ask("a guess")).toMatchObject({ error: "invalid_client" });
  });

  test("is what its metadata document says, and nothing where the document names another", async () => {
    let named = "";
    await using documents = await webServer(
      (_request, response) =>
        void response.end(JSON.stringify({ client_id: named, redirect_uris: ["http://127.0.0.1/callback"] })),
      { secure: true },
    );
    await using servers = await both({ acceptsMetadataDocuments: true, requiresResource: false });
    const url = new URL(`${servers.authorization.issuer}/authorize`);
    const id = `${documents.origin}/client.json`;
    url.search = new URLSearchParams({
      client_id: id,
      redirect_uri: "http://127.0.0.1:4000/callback",
      response_type: "code",
      code_challenge: "x",
      code_challenge_method: "S256",
    }).toString();
    expect((await browser(url, { visits: false })).status).toBe(400);
    named = id;
    expect((await answer(url)).get("code")).toMatch(/^code-/);
  });
});

describe("a device", () => {
  async function devices(servers: Awaited<ReturnType<typeof both>>) {
    const { client, resource } = await start(servers.guarded);
    const post = async (path: string, form: Record<string, string>): Promise<Record<string, string>> => {
      const body = new URLSearchParams({ client_id: client.client_id, ...form });
      const answered = await fetch(`${servers.authorization.issuer}${path}`, { method: "POST", body });
      return (await answered.json()) as Record<string, string>;
    };
    const given = await post("/device", { resource: resource.href, scope: "read" });
    const grantType = "urn:ietf:params:oauth:grant-type:device_code";
    const poll = () => post("/token", { grant_type: grantType, device_code: given["device_code"] ?? "" });
    return { given, poll };
  }

  test("waits, slows down, and gets its tokens once the person has said yes", async () => {
    await using servers = await both({ deviceErrors: ["slow_down"] });
    const { given, poll } = await devices(servers);
    expect(await poll()).toMatchObject({ error: "slow_down" });
    expect(await poll()).toMatchObject({ error: "authorization_pending" });
    await browser(given["verification_uri_complete"] ?? "");
    const { access_token: token = "" } = await poll();
    expect(await call(servers.guarded, token)).toBe(200);
    expect(await poll()).toMatchObject({ error: "invalid_grant" });
  });

  test.each([
    ["deny", "access_denied"],
    ["expire", "expired_token"],
  ] as const)("gives up when the answer is to %s", async (decision, error) => {
    await using servers = await both();
    const { given, poll } = await devices(servers);
    servers.authorization.decideDevice(given["user_code"] ?? "", decision);
    expect(await poll()).toMatchObject({ error });
  });
});

describe("the guarded server", () => {
  test("wants more for a tool, and says how much", async () => {
    await using servers = await both({}, { scopes: ["read"], toolScopes: { echo: ["write"] } });
    const little = await signIn(servers.guarded, "read");
    expect(await call(servers.guarded, little.tokens.access_token)).toBe(403);
    const much = await signIn(servers.guarded, "read write");
    expect(await call(servers.guarded, much.tokens.access_token)).toBe(200);
  });

  test("tells in its challenge what it is told to tell", async () => {
    await using servers = await both({}, { scopes: ["read"] });
    const challenge = async () =>
      (await fetch(servers.guarded.url, { method: "POST", body: "{}" })).headers.get("www-authenticate");
    const metadata = `${servers.guarded.origin}/.well-known/oauth-protected-resource/mcp`;
    expect(await challenge()).toBe(`Bearer resource_metadata="${metadata}", scope="read"`);
    servers.guarded.settings.challengeWith = ["scope"];
    expect(await challenge()).toBe('Bearer scope="read"');
    servers.guarded.settings.challenge = "";
    expect(await challenge()).toBeNull();
  });

  test("takes no token that was meant for another", async () => {
    await using servers = await both();
    await using other = await guardedServer({ authorization: servers.authorization });
    const { tokens } = await signIn(other);
    expect([await call(other, tokens.access_token), await call(servers.guarded, tokens.access_token)]).toEqual([
      200, 401,
    ]);
  });

  test("takes a token for a path above its own", async () => {
    await using servers = await both();
    servers.guarded.settings.metadata = { resource: servers.guarded.origin };
    const { tokens } = await signIn(servers.guarded);
    expect(await call(servers.guarded, tokens.access_token)).toBe(200);
  });

  test("can move to another authorization server", async () => {
    await using servers = await both();
    await using next = await authorizationServer();
    const { tokens } = await signIn(servers.guarded);
    servers.guarded.settings.authorization = next;
    expect(await call(servers.guarded, tokens.access_token)).toBe(401);
    const { issuer, tokens: later } = await signIn(servers.guarded);
    expect(issuer).toBe(next.issuer);
    expect(await call(servers.guarded, later.access_token)).toBe(200);
  });
});

test("an ID token says who signed in, and its signature can be checked", async () => {
  await using servers = await both({ metadataAt: "openid", scopes: ["openid"], account: "ada" });
  const { issuer, client, tokens } = await signIn(servers.guarded, "openid");
  const [header = "", payload = "", signature = ""] = tokens.id_token?.split(".") ?? [];
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
  expect(claims).toMatchObject({ iss: issuer, aud: client.client_id, sub: "ada" });
  const { keys } = (await (await fetch(`${issuer}/keys`)).json()) as { keys: [JsonWebKey] };
  const key = { key: createPublicKey({ key: keys[0], format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
  expect(verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))).toBe(true);
});

test("less can be granted than was asked for", async () => {
  await using servers = await both({ grants: (asked) => asked.slice(0, 1) });
  expect((await signIn(servers.guarded, "read write")).tokens.scope).toBe("read");
});

test("a revoked token ends its grant", async () => {
  await using servers = await both();
  const { client, tokens } = await signIn(servers.guarded);
  const body = new URLSearchParams({ client_id: client.client_id, token: tokens.refresh_token ?? "" });
  await fetch(`${servers.authorization.issuer}/revoke`, { method: "POST", body });
  expect(await call(servers.guarded, tokens.access_token)).toBe(401);
});

test("all that is secret is known", async () => {
  await using servers = await both();
  const { tokens, verifier } = await signIn(servers.guarded);
  const [{ params } = { params: new URLSearchParams() }] = servers.authorization.callsTo("token");
  const { access_token: access, refresh_token: refreshing = "" } = tokens;
  for (const secret of [access, refreshing, verifier, "a state", params.get("code") ?? ""]) {
    expect(servers.authorization.secrets).toContain(secret);
  }
});
