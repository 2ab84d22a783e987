import { expect, test } from "vitest";
import { checkGoogleEntry, isGoogleHost } from "../../../src/auth/google/google.ts";
import { checkServiceAccountEntry } from "../../../src/auth/google/service-account.ts";
import { HostError } from "../../../src/errors.ts";
import type { ServerDefinition } from "../../../src/settings/define/definition.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";

async function definitionOf(entry: object, isWorkspace = false): Promise<ServerDefinition> {
  await using world = await createWorld();
  const content = { mcpServers: { docs: entry } };
  await (isWorkspace ? world.writeWorkspace(content) : world.writeUser(content));
  const { definition } = serverOf(await world.load({ env: { EMPTY: "" } }), "docs");
  if (definition === undefined) throw new Error("there is no definition");
  return definition;
}

async function told(attempt: () => unknown): Promise<unknown> {
  try {
    return await attempt();
  } catch (error) {
    return error instanceof HostError ? [error.code, error.serverName, error.message, error.next] : error;
  }
}

const invalid = (message: string, next: string) => ["settings_invalid", "docs", `"docs" ${message}`, next];
const noAddress = invalid(
  "has no https address, so Fairlead sends it no Google token",
  "Change the server's URL in settings.json to its https address.",
);

test.each([
  ["a.googleapis.com", ["*.googleapis.com"], true],
  ["googleapis.com", ["*.googleapis.com"], false],
  ["xgoogleapis.com", ["*.googleapis.com"], false],
  ["luci.app", ["luci.app"], true],
  ["a.luci.app", ["luci.app"], false],
  ["tools.example", ["other.example", "TOOLS.example"], true],
  ["tools.example", [], false],
])("the host %s is one of %j: %s", (host, hosts, isOne) => {
  expect(isGoogleHost(host, hosts)).toBe(isOne);
});

test.each<[string, readonly string[], unknown]>([
  ["https://a.googleapis.com/mcp", [], ["s"]],
  ["https://luci.app/mcp", [], ["s"]],
  ["https://x.luci.app/mcp", [], ["s"]],
  ["https://tools.example/mcp", ["*.example"], ["s"]],
  ["http://tools.example/mcp", ["*.example"], noAddress],
  [
    "https://tools.example/mcp",
    ["other.example"],
    invalid(
      "is at tools.example, but Fairlead sends Google tokens to *.googleapis.com, luci.app, *.luci.app only",
      'If tools.example may get Google tokens, add "tools.example" to "fairlead.googleHosts" in your user settings.',
    ),
  ],
])("the server at %s gets Google tokens, with the user's hosts %j: %j", async (serverUrl, hosts, expected) => {
  const definition = await definitionOf({
    url: serverUrl,
    authProviderType: "google",
    oauth: { scopes: ["$EMPTY", "s"] },
  });
  const secret = async () => undefined;
  expect(await told(() => checkGoogleEntry(definition, { serverUrl, secret, hosts }))).toEqual(expected);
});

test("empty scopes count as none", async () => {
  const serverUrl = "https://a.googleapis.com/mcp";
  const definition = await definitionOf({ url: serverUrl, authProviderType: "google", oauth: { scopes: ["$EMPTY"] } });
  const options = { serverUrl, secret: async () => undefined, hosts: [] };
  expect(await told(() => checkGoogleEntry(definition, options))).toEqual(
    invalid(
      "uses Google credentials, but sets no scopes",
      'Add them in settings.json: "oauth": { "scopes": ["https://www.googleapis.com/auth/…"] }',
    ),
  );
});

const account = "a-b@project.iam.gserviceaccount.com";
const url = "https://tools.example/mcp";
const badAccount = (name: string) =>
  invalid(
    `has an invalid service account: ${JSON.stringify(name)}`,
    'Set "targetServiceAccount" to the email address of the account.',
  );

test.each<[string, object, unknown]>([
  ["https://tools.example/mcp", {}, { audience: "https://other.example", account }],
  ["http://tools.example/mcp", {}, noAddress],
  [url, { targetServiceAccount: "robot" }, { audience: "https://other.example", account: "robot" }],
  [url, { targetServiceAccount: "a/b" }, badAccount("a/b")],
  [url, { targetServiceAccount: ".a@b" }, badAccount(".a@b")],
  [url, { targetServiceAccount: "a@b/c" }, badAccount("a@b/c")],
  [url, { targetServiceAccount: "a@b@c" }, badAccount("a@b@c")],
])("the entry of the user at %s with %j impersonates: %j", async (serverUrl, more, expected) => {
  const keys = { targetAudience: "https://other.example", targetServiceAccount: account, ...more };
  const definition = await definitionOf({ url: serverUrl, authProviderType: "sa-impersonation", ...keys });
  expect(await told(() => checkServiceAccountEntry(definition, { serverUrl, hosts: [] }))).toEqual(expected);
});

test.each<[string, readonly string[], boolean]>([
  ["https://other.example", [], false],
  ["https://other.example", ["tools.example"], true],
  ["https://tools.example", [], true],
  ["https://tools.example/any/path", [], true],
  ["https://tools.example:8443", [], false],
  ["no address", [], false],
])(
  "an entry of the workspace requests tokens for %j, with the user's hosts %j: %s",
  async (audience, hosts, isFine) => {
    const keys = { targetAudience: audience, targetServiceAccount: account };
    const definition = await definitionOf({ url, authProviderType: "sa-impersonation", ...keys }, true);
    expect(await told(() => checkServiceAccountEntry(definition, { serverUrl: url, hosts }))).toEqual(
      isFine
        ? { audience, account }
        : invalid(
            `comes from the workspace and is at tools.example, but requests tokens for another address: ${JSON.stringify(audience)}`,
            'If tools.example may get Google tokens, add "tools.example" to "fairlead.googleHosts" in your user settings.',
          ),
    );
  },
);

test("an entry without a service account is refused", async () => {
  const definition = await definitionOf({ url });
  expect(await told(() => checkServiceAccountEntry(definition, { serverUrl: url, hosts: [] }))).toEqual(
    invalid("has no service account", 'Set "targetServiceAccount" and "targetAudience" in settings.json.'),
  );
});
