import { describe, expect, test } from "vitest";
import { type DiscoveryOptions, discoverSignIn, type SignInPlan } from "../../../src/auth/oauth/discovery.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { toServerMetadata } from "../../../src/auth/oauth/metadata.ts";

const serverUrl = "https://h.example/mcp";
const issuer = "https://login.example";
const resourceAt = "https://h.example/.well-known/oauth-protected-resource/mcp";
const rootAt = "https://h.example/.well-known/oauth-protected-resource";
const issuerAt = `${issuer}/.well-known/oauth-authorization-server`;
const openidAt = `${issuer}/.well-known/openid-configuration`;

const resource = { resource: serverUrl, authorization_servers: [issuer], scopes_supported: ["read"] };
const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  revocation_endpoint: `${issuer}/revoke`,
  device_authorization_endpoint: `${issuer}/device`,
};
const usual = { [resourceAt]: resource, [issuerAt]: metadata };

type Documents = Readonly<Record<string, object | Error>>;
type Options = Partial<DiscoveryOptions>;

/** Discovers with these documents; every other address answers 404. */
function discovering(documents: Documents, options: Options = {}, fetched: string[] = []): Promise<SignInPlan> {
  return discoverSignIn({
    serverUrl,
    challenge: {},
    oauth: {},
    fail: createFail("docs"),
    fetch: async (url) => {
      fetched.push(String(url));
      const document = documents[String(url)];
      if (document instanceof Error) throw document;
      return document === undefined ? new Response(null, { status: 404 }) : Response.json(document);
    },
    ...options,
  });
}

describe("the plan of a sign-in", () => {
  test("has everything that the two documents say", async () => {
    const fetched: string[] = [];
    expect(await discovering(usual, {}, fetched)).toEqual({
      resource: serverUrl,
      server: toServerMetadata(metadata),
      isIssuerKnown: true,
      scopes: ["read"],
      mustListPkce: true,
      isDpop: false,
      isGuess: false,
    });
    expect(fetched).toEqual([resourceAt, issuerAt]);
  });

  test("has the scopes and the kind of token that the refusal asks for", async () => {
    const challenged = await discovering(usual, { challenge: { scope: "write list", isDpop: true } });
    expect([challenged.scopes, challenged.isDpop]).toEqual([["write", "list"], true]);
    const bound = { ...usual, [resourceAt]: { ...resource, dpop_bound_access_tokens_required: true } };
    expect((await discovering(bound)).isDpop).toBe(true);
  });

  test("begins at the address in the refusal, which may be relative", async () => {
    const fetched: string[] = [];
    const documents = { "https://h.example/meta": resource, [issuerAt]: metadata };
    await discovering(documents, { challenge: { resourceMetadata: "/meta" } }, fetched);
    expect(fetched).toEqual(["https://h.example/meta", issuerAt]);
  });

  test("is a guess where there are no documents at all, as in 2025-03-26", async () => {
    const fetched: string[] = [];
    expect(await discovering({}, {}, fetched)).toEqual({
      resource: serverUrl,
      server: {
        issuer: "https://h.example",
        authorization_endpoint: "https://h.example/authorize",
        token_endpoint: "https://h.example/token",
        registration_endpoint: "https://h.example/register",
      },
      isIssuerKnown: false,
      scopes: [],
      mustListPkce: false,
      isDpop: false,
      isGuess: true,
    });
    expect(fetched).toHaveLength(4);
  });

  test("is no guess where the server or its origin has a document, and then no endpoint is made up", async () => {
    const named = await discovering({ [rootAt]: { resource: "https://h.example" } });
    expect([named.mustListPkce, named.isGuess, named.resource]).toEqual([false, false, "https://h.example"]);
    const own = {
      issuer: "https://h.example/",
      authorization_endpoint: "https://h.example/a",
      token_endpoint: "https://h.example/t",
    };
    expect(await discovering({ "https://h.example/.well-known/oauth-authorization-server": own })).toMatchObject({
      server: toServerMetadata(own),
      isIssuerKnown: true,
      mustListPkce: false,
      isGuess: false,
    });
  });

  test("asks no issuer where the settings name the endpoints", async () => {
    const fetched: string[] = [];
    const oauth = { authorizationUrl: "https://mine.example/a", tokenUrl: "https://mine.example/t" };
    const server = {
      issuer: "https://mine.example",
      authorization_endpoint: oauth.authorizationUrl,
      token_endpoint: oauth.tokenUrl,
    };
    const plan = await discovering(usual, { oauth }, fetched);
    expect(plan).toMatchObject({ isIssuerKnown: false, mustListPkce: false, isGuess: false });
    expect(plan.server).toEqual(server);
    expect(fetched).toEqual([resourceAt]);
    const own = await discovering({}, { oauth: { ...oauth, issuer: "https://own.example" } });
    expect([own.server, own.isIssuerKnown]).toEqual([{ ...server, issuer: "https://own.example" }, true]);
  });

  test("needs only the token endpoint where no person signs in", async () => {
    const oauth = { tokenUrl: "https://mine.example/t" };
    const machine = await discovering(usual, { oauth, isMachine: true });
    expect(machine.server).toEqual({ issuer: "https://mine.example", token_endpoint: oauth.tokenUrl });
    const person = await discovering(usual, { oauth });
    expect(person.server).toEqual({ ...toServerMetadata(metadata), token_endpoint: oauth.tokenUrl });
    const { authorization_endpoint: _page, ...headless } = metadata;
    const told = await discovering({ ...usual, [issuerAt]: headless }, { isMachine: true });
    expect(told.server.authorization_endpoint).toBeUndefined();
  });

  test("is for the issuer that the user chose, and for the first issuer if the user cannot choose", async () => {
    const several = { ...usual, [resourceAt]: { ...resource, authorization_servers: [issuer, "https://b.example"] } };
    expect((await discovering(several)).server.issuer).toBe(issuer);
    const questions: (readonly string[])[] = [];
    const choose = async (issuers: readonly string[]): Promise<string> => {
      questions.push(issuers);
      return "https://b.example";
    };
    const other = { ...metadata, issuer: "https://b.example" };
    const documents = { ...several, "https://b.example/.well-known/oauth-authorization-server": other };
    expect((await discovering(documents, { choose })).server.issuer).toBe("https://b.example");
    await discovering(usual, { choose });
    expect(questions).toEqual([[issuer, "https://b.example"]]);
  });

  test("is for the user's own issuer first, and says which ones that replaces", async () => {
    const replaced: unknown[] = [];
    const onOverride: DiscoveryOptions["onOverride"] = (...told) => replaced.push(told);
    const named = { ...usual, [resourceAt]: { ...resource, authorization_servers: ["https://b.example"] } };
    const options = { onOverride, oauth: { issuer: "https://c.example" } };
    expect((await discovering(named, { ...options, issuerOverride: issuer })).server.issuer).toBe(issuer);
    expect(replaced).toEqual([[issuer, ["https://b.example"]]]);
    expect((await discovering(named, { onOverride, oauth: { issuer } })).server.issuer).toBe(issuer);
    expect(replaced).toHaveLength(1);
  });
});

const signInAgain = "fairlead mcp auth docs";
const correctEndpoint =
  'Ask the operator of the authorization server for an https address; if "oauth" in settings.json sets this one, correct it.';
const atServer = 'sign-in to "docs" failed at the server metadata step: ';
const atIssuer = 'sign-in to "docs" failed at the authorization server metadata step: ';
const askIssuer = `Ask the server's operator which issuer is right, then set it in settings.json: "oauth": {"issuer": "…"}`;

test.each<[string, string, string, Documents, Options?]>([
  [
    "a document about another server",
    `${atServer}the metadata is about https://bank.example/mcp, which is not this server (${serverUrl})`,
    `Check the server's address in settings.json; if it is right, ask the server's operator to correct "resource" in the metadata.`,
    { [resourceAt]: { resource: "https://bank.example/mcp" } },
  ],
  [
    "two documents without a resource",
    `${atServer}${resourceAt} has no "resource"`,
    'Ask the server\'s operator to add "resource" to this document.',
    { [resourceAt]: { a: 1 }, [rootAt]: { a: 1 } },
  ],
  [
    "a server document that cannot be fetched",
    `${atServer}${resourceAt} cannot be read: the network is down`,
    signInAgain,
    { [resourceAt]: new Error("the network is down") },
  ],
  [
    "an issuer's document that cannot be fetched",
    `${atIssuer}${issuerAt} cannot be read: the network is down`,
    signInAgain,
    { ...usual, [issuerAt]: new Error("the network is down") },
  ],
  [
    "an issuer without a usable document",
    `${atIssuer}${issuer} has no metadata: ${issuerAt} has no "issuer"; ${openidAt} answered 404`,
    signInAgain,
    { [resourceAt]: resource, [issuerAt]: {} },
  ],
  [
    "a document about another issuer",
    `${atIssuer}${issuerAt} is about ${issuer}/, not about ${issuer}`,
    askIssuer,
    { ...usual, [issuerAt]: { ...metadata, issuer: `${issuer}/` } },
  ],
  [
    "an issuer that is no https address, of the server",
    `${atIssuer}"http://plain.example" is not the https address of an authorization server`,
    "Ask the server's operator to correct its metadata.",
    { [resourceAt]: { ...resource, authorization_servers: ["http://plain.example"] } },
  ],
  [
    "one of the server's settings",
    `${atIssuer}"http://plain.example" is not the https address of an authorization server`,
    'Correct "oauth.issuer" in settings.json.',
    usual,
    { oauth: { issuer: "http://plain.example" } },
  ],
  [
    "one that replaces the others",
    `${atIssuer}"http://plain.example" is not the https address of an authorization server`,
    'Correct "issuerOverride" in settings.json.',
    usual,
    { issuerOverride: "http://plain.example" },
  ],
  [
    "no page to sign in on",
    `${atIssuer}the metadata has no authorization endpoint`,
    signInAgain,
    { ...usual, [issuerAt]: { issuer, token_endpoint: `${issuer}/token` } },
  ],
  [
    "no address for tokens",
    `${atIssuer}the metadata has no token endpoint`,
    signInAgain,
    { ...usual, [issuerAt]: { issuer, authorization_endpoint: `${issuer}/authorize` } },
  ],
  ...(["authorization", "token", "registration", "revocation", "device_authorization"] as const).map(
    (name): [string, string, string, Documents] => [
      `the ${name} endpoint without https`,
      `${atIssuer}the ${name.replace("_", " ")} endpoint "http://plain.example/" is not an https address`,
      correctEndpoint,
      { ...usual, [issuerAt]: { ...metadata, [`${name}_endpoint`]: "http://plain.example/" } },
    ],
  ),
])("a sign-in stops at %s", async (_, message, next, documents, options) => {
  await expect(discovering(documents, options)).rejects.toMatchObject({
    code: "auth_failed",
    message,
    next,
    serverName: "docs",
  });
});

describe("a workspace names both endpoints without an issuer, or none", () => {
  const [authorizationUrl, tokenUrl, registrationUrl] = [`${issuer}/a`, `${issuer}/t`, `${issuer}/r`];
  const couldDiffer = "so the endpoints could belong to different authorization servers";
  const couldBeside = "so the endpoint and the issuer could belong to different authorization servers";

  test.each<[Options, string]>([
    [{ oauth: { tokenUrl } }, `"oauth.tokenUrl" but not "oauth.authorizationUrl", ${couldDiffer}`],
    [{ oauth: { authorizationUrl } }, `"oauth.authorizationUrl" but not "oauth.tokenUrl", ${couldDiffer}`],
    [{ oauth: { registrationUrl } }, `"oauth.registrationUrl" but not "oauth.authorizationUrl", ${couldDiffer}`],
    [
      { oauth: { authorizationUrl, tokenUrl, issuer } },
      `"oauth.authorizationUrl" together with "oauth.issuer", ${couldBeside}`,
    ],
    [
      { oauth: { authorizationUrl, tokenUrl }, issuerOverride: issuer },
      `"oauth.authorizationUrl" together with your issuerOverride, ${couldBeside}`,
    ],
  ])("%j", async (options, why) => {
    await expect(discovering(usual, { ...options, isFromWorkspace: true })).rejects.toMatchObject({
      message: `${atIssuer}the workspace sets ${why}`,
      next: 'Set both "authorizationUrl" and "tokenUrl" without an issuer, or none of them; or set them in your user settings.',
    });
    await expect(discovering(usual, { ...options, isFromWorkspace: false })).resolves.toBeDefined();
  });

  test.each<Options>([{ oauth: {} }, { oauth: { issuer } }, { oauth: { authorizationUrl, tokenUrl } }])(
    "%j is accepted",
    async (options) => {
      await expect(discovering(usual, { ...options, isFromWorkspace: true })).resolves.toBeDefined();
    },
  );
});
