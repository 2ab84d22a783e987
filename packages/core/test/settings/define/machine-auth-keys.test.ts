import { expect, test } from "vitest";
import { createWorld, serverOf } from "../../support/load-settings.ts";

const url = "https://docs.example/mcp";

/** Loads one server with this `machineAuth`. Returns the settings of its sign-in and the problems, with the next step. */
async function load(machineAuth: unknown, entry: object = { url }) {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: entry }, fairlead: { servers: { s: { machineAuth } } } });
  const settings = await world.load();
  return {
    settings: serverOf(settings, "s").definition?.extras.machineAuth?.settings,
    problems: settings.problems.map(({ severity, message, next }) =>
      `${severity} ${message}${next === undefined ? "" : ` → ${next}`}`.replace('server "s": ', ""),
    ),
  };
}

test.each<[string, Record<string, unknown>]>([
  [
    "a client with a secret",
    {
      kind: "client_credentials",
      clientId: "c",
      clientSecret: "s",
      clientAuthentication: "client_secret_post",
      tokenUrl: "https://i.example/token",
      issuer: "https://i.example",
      audience: "a",
      scopes: ["x", "y"],
    },
  ],
  [
    "a client that sends its secret in a header",
    { kind: "client_credentials", clientId: "c", clientSecret: "s", clientAuthentication: "client_secret_basic" },
  ],
  [
    "a client with a key file",
    { kind: "client_credentials", clientId: "c", privateKeyFile: "/k", keyId: "1", scopes: [] },
  ],
  ["a client with a key", { kind: "client_credentials", clientId: "c", privateKey: "k" }],
  ["an assertion in a file", { kind: "jwt_bearer", assertionFile: "/a" }],
  ["an assertion in a variable", { kind: "jwt_bearer", assertionEnv: "A", clientId: "c", clientSecret: "s" }],
  ["an assertion of Google", { kind: "jwt_bearer", assertionFrom: "gcp" }],
  ["an assertion of Azure", { kind: "jwt_bearer", assertionFrom: "azure" }],
  ["an assertion of GitHub", { kind: "jwt_bearer", assertionFrom: "github" }],
  [
    "an enterprise with an issuer",
    {
      kind: "enterprise",
      clientId: "c",
      assertionFile: "/a",
      identityProvider: { issuer: "https://p.example", clientId: "p", clientSecret: "q" },
    },
  ],
  [
    "an enterprise with a token URL",
    {
      kind: "enterprise",
      clientId: "c",
      clientSecret: "s",
      assertionEnv: "A",
      identityProvider: { tokenUrl: "https://p.example/token", clientId: "p" },
    },
  ],
])("the keys of machineAuth are read for %s", async (_, machineAuth) => {
  expect(await load(machineAuth)).toEqual({ settings: machineAuth, problems: [] });
});

test("without a kind, a client signs in with its own credentials", async () => {
  expect(await load({ clientId: "c", clientSecret: "s" })).toEqual({
    settings: { kind: "client_credentials", clientId: "c", clientSecret: "s" },
    problems: [],
  });
});

const secrets = '"clientSecret", "privateKeyFile" or "privateKey"';
const tokens = '"assertionFile" or "assertionEnv" (the ID token)';
const lacks = (kind: string, what: string, where = "machineAuth"): string =>
  `error "machineAuth" (${kind}) is incomplete: it lacks ${what} → Add ${what} under ${where}.`;

test.each<[unknown, string]>([
  [true, lacks("client_credentials", '"clientId" and "clientSecret"', "oauth of the entry")],
  [{}, lacks("client_credentials", `"clientId" and ${secrets}`)],
  [{ clientId: "c" }, lacks("client_credentials", secrets)],
  [{ privateKey: "k" }, lacks("client_credentials", '"clientId"')],
  [{ kind: "jwt_bearer" }, lacks("jwt_bearer", '"assertionFile", "assertionEnv" or "assertionFrom"')],
  [{ kind: "jwt_bearer", assertionEnv: "A", privateKey: "k" }, lacks("jwt_bearer", '"clientId"')],
  [
    { kind: "enterprise" },
    lacks(
      "enterprise",
      `"clientId" and ${tokens} and "identityProvider.issuer" or "identityProvider.tokenUrl" and "identityProvider.clientId"`,
    ),
  ],
  [
    { kind: "enterprise", clientId: "c", assertionEnv: "A", identityProvider: { clientId: "p" } },
    lacks("enterprise", '"identityProvider.issuer" or "identityProvider.tokenUrl"'),
  ],
  [
    { kind: "enterprise", clientId: "c", assertionEnv: "A", identityProvider: { issuer: "https://p.example" } },
    lacks("enterprise", '"identityProvider.clientId"'),
  ],
  [
    {
      kind: "enterprise",
      clientId: "c",
      assertionFrom: "gcp",
      identityProvider: { issuer: "https://p.example", clientId: "p" },
    },
    'error "machineAuth" (enterprise) needs an ID token: "assertionFrom" gives none',
  ],
  [
    { clientId: "c", clientSecret: "s", privateKeyFile: "/k", privateKey: "k" },
    'error "machineAuth" may have only one of "clientSecret" and "privateKeyFile" and "privateKey"',
  ],
  [
    { kind: "jwt_bearer", assertionFile: "/a", assertionEnv: "A", assertionFrom: "gcp" },
    'error "machineAuth" may have only one of "assertionFile" and "assertionEnv" and "assertionFrom"',
  ],
])("the user reads what %j lacks, and where to add it", async (machineAuth, problem) => {
  expect(await load(machineAuth)).toEqual({ settings: undefined, problems: [problem] });
});

const complete = { clientId: "c", clientSecret: "s" };

test.each<[object, string]>([
  [{ command: "x" }, '"machineAuth" needs "url" or "httpUrl": a program gets its credentials from "env"'],
  [
    { url, authProviderType: "google", oauth: { scopes: ["s"] } },
    '"machineAuth" and "authProviderType" exclude each other',
  ],
  [{ url, headers: { AUTHORIZATION: "x" } }, '"machineAuth" and an Authorization header exclude each other'],
])("the entry %j cannot use machineAuth, and the user reads why", async (entry, reason) => {
  expect(await load(complete, entry)).toEqual({ settings: undefined, problems: [`error ${reason}`] });
});

test("a header that is not about authorization does not exclude machineAuth", async () => {
  const { problems } = await load(complete, { url, headers: { "X-Authorization": "x", "Authorization-Mode": "y" } });
  expect(problems).toEqual([]);
});

test("the credentials of a workspace's server need an issuer or a token URL", async () => {
  await using world = await createWorld();
  await world.writeWorkspace({ mcpServers: { s: { url, oauth: { clientId: "c", clientSecret: "s" } } } });
  const problems = async (machineAuth: unknown) => {
    await world.writeUser({ fairlead: { servers: { s: { machineAuth } } } });
    return (await world.load()).problems.map(({ message, next }) => `${message} → ${next}`);
  };
  expect(await problems(complete)).toEqual([
    'server "s": "machineAuth" of a workspace\'s entry needs "issuer" or "tokenUrl" → Add "issuer" under machineAuth: the workspace must not choose who gets your credentials.',
  ]);
  expect(await problems({ ...complete, issuer: "https://i.example" })).toEqual([]);
  expect(await problems({ ...complete, tokenUrl: "https://i.example/token" })).toEqual([]);
  // The client of the workspace's own entry is not the user's.
  expect(await problems(true)).toEqual([]);
});
