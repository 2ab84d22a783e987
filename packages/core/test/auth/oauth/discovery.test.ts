import { status, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { both } from "../both-servers.ts";
import { asked, person } from "../person.ts";
import { signingIn } from "../signing-in.ts";

type Settings = NonNullable<Parameters<typeof both>[0]>;
type Guard = NonNullable<Parameters<typeof both>[1]>;

describe("the authorization server is found", () => {
  const findings: [string, Settings, Guard][] = [
    ["by the address in the refusal", {}, { metadataAt: "elsewhere" }],
    ["by the path of the server", {}, { challengeWith: [] }],
    ["by the root of the server", {}, { challengeWith: [], metadataAt: "root" }],
    ["when the refusal says nothing at all", {}, { challenge: "" }],
    ["when the address in the refusal leads nowhere", {}, { challenge: 'Bearer resource_metadata="/nowhere"' }],
    ["with metadata of its own path", { issuerPath: "/tenant" }, {}],
    ["with OpenID Connect", { metadataAt: "openid" }, {}],
    ["with OpenID Connect and a path", { issuerPath: "/tenant", metadataAt: "openid" }, {}],
    ["with OpenID Connect's older spelling", { issuerPath: "/tenant", metadataAt: "openid-appended" }, {}],
    ["at the server itself, as in 2025-03-26", {}, { isSameOrigin: true, metadataAt: "nowhere" }],
    ["by nothing but paths", { metadataAt: "nowhere" }, { isSameOrigin: true, metadataAt: "nowhere" }],
  ];
  test.each(findings)("%s", async (_, settings, guard) => {
    await using servers = await both(settings, guard);
    await using folder = await temporaryFolder();
    const credentials = await signingIn(servers.guarded.url, person(), folder);
    expect(credentials).toMatchObject({
      issuer: servers.authorization.issuer,
      resource: servers.guarded.url,
      endpoints: { token: `${servers.authorization.issuer}/token` },
    });
  });
});

describe("a sign-in stops", () => {
  const stops: [string, RegExp, { readonly settings?: Settings; readonly guard?: Guard }][] = [
    [
      "when tokens would be for another server",
      /at the server metadata step: the metadata is about https:\/\/bank\.example\/mcp, which is not this server/,
      { guard: { metadata: { resource: "https://bank.example/mcp" } } },
    ],
    ["when the metadata names no resource", /has no "resource"/, { guard: { metadata: { resource: undefined } } }],
    [
      "when the metadata is about another issuer",
      /at the authorization server metadata step: \S+ is about https:\/\/other\.example, not about http/,
      { settings: { metadata: { issuer: "https://other.example" } } },
    ],
    [
      "when an issuer differs by a slash",
      /is about http:\/\/127\.0\.0\.1:\d+\/, not about/,
      { settings: { metadata: { issuer: "slash" } } },
    ],
    [
      "when the authorization server says nothing",
      /has no metadata: .* answered 404/,
      { settings: { metadataAt: "nowhere" } },
    ],
    [
      "when PKCE is not advertised",
      /does not support PKCE with S256/,
      { settings: { metadata: { code_challenge_methods_supported: undefined } } },
    ],
    [
      "when only the plain method is there",
      /does not support PKCE with S256/,
      { settings: { metadata: { code_challenge_methods_supported: ["plain"] } } },
    ],
    [
      "when only the plain method is there, in the older protocol too",
      /does not support PKCE with S256/,
      {
        settings: { metadata: { code_challenge_methods_supported: ["plain"] } },
        guard: { isSameOrigin: true, metadataAt: "nowhere" },
      },
    ],
    [
      "when an endpoint is not safe",
      /the token endpoint "http:\/\/plain\.example\/token" is not an https address/,
      { settings: { metadata: { token_endpoint: "http://plain.example/token" } } },
    ],
    [
      "when the browser would be sent to a file",
      /the authorization endpoint "file:\/\/\/etc\/passwd" is not an https address/,
      { settings: { metadata: { authorization_endpoint: "file:///etc/passwd" } } },
    ],
    [
      "when no address gives out tokens",
      /the metadata has no token endpoint/,
      { settings: { metadata: { token_endpoint: undefined } } },
    ],
    [
      "when there is no page to sign in on",
      /the metadata has no authorization endpoint/,
      { settings: { metadata: { authorization_endpoint: undefined } } },
    ],
    [
      "when an issuer is no address",
      /"javascript:alert\(1\)" is not the https address of an authorization server/,
      { guard: { metadata: { authorization_servers: ["javascript:alert(1)"] } } },
    ],
    [
      "when the metadata lies at an address of another service",
      /at the server metadata step: http:\/\/169\.254\.169\.254\/latest cannot be read: /,
      { guard: { challenge: 'Bearer resource_metadata="http://169.254.169.254/latest"' } },
    ],
  ];
  test.each(stops)("%s", async (_, message, { settings = {}, guard = {} }) => {
    await using servers = await both(settings, guard);
    if (settings.metadata?.["issuer"] === "slash")
      servers.authorization.settings.metadata = { issuer: `${servers.authorization.issuer}/` };
    await using folder = await temporaryFolder();
    const someone = person();
    await expect(signingIn(servers.guarded.url, someone, folder)).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringMatching(message),
      serverName: "docs",
      next: expect.stringMatching(/./),
    });
    expect(someone.opened).toEqual([]);
  });

  test("when the metadata cannot be had, however that shows", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const attempt = (): Promise<unknown> => signingIn(servers.guarded.url, person(), folder);
    servers.authorization.interrupt("metadata", status(503), 9);
    await expect(attempt()).rejects.toMatchObject({ message: expect.stringContaining("answered 503") });
  });
});

test("a token for a parent path is accepted, and asked for as the server spells it", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const resource = `${servers.guarded.origin}/`;
  servers.guarded.settings.metadata = { resource };
  const someone = person();
  const credentials = await signingIn(servers.guarded.url, someone, folder);
  expect([asked(someone, "resource"), credentials.resource]).toEqual([resource, resource]);
  expect(servers.authorization.callsTo("token")[0]?.params.get("resource")).toBe(resource);
});

test("of several authorization servers the person chooses, and is not asked again", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { issuer } = servers.authorization;
  servers.guarded.settings.metadata = { authorization_servers: ["https://other.example", issuer] };
  const questions: (readonly string[])[] = [];
  const chooseIssuer = async (issuers: readonly string[]): Promise<string> => {
    questions.push(issuers);
    return issuer;
  };
  for (let round = 0; round < 2; round += 1)
    await signingIn(servers.guarded.url, person({ ui: { chooseIssuer } }), folder);
  expect(questions).toEqual([["https://other.example", issuer]]);
});

test("an override of the person's own takes the place of what the server names, and is shown", async () => {
  await using servers = await both();
  await using others = await both();
  await using folder = await temporaryFolder();
  const someone = person();
  const issuerOverride = others.authorization.issuer;
  const credentials = await signingIn(servers.guarded.url, someone, folder, { issuerOverride });
  expect(credentials.issuer).toBe(issuerOverride);
  expect(servers.authorization.seen).toEqual([]);
  expect(someone.shown[0]).toEqual({
    kind: "issuer_override",
    issuer: issuerOverride,
    instead: [servers.authorization.issuer],
  });
});
