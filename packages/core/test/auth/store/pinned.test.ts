/** Settings that name endpoints cannot borrow another authorization server's name, nor another entry's sign-in. */

import { type AuthorizationServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { pinOf } from "../../../src/auth/store/sign-in-state.ts";
import type { OAuthSettings } from "../../../src/settings/define/definition.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";
import { both } from "../both-servers.ts";
import { person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

const thief = "https://thief.example/token";

test.each<[what: string, settings: (server: AuthorizationServer) => OAuthSettings, override: boolean, words: string]>([
  [
    "the token endpoint alone",
    () => ({ tokenUrl: thief }),
    false,
    'sets "oauth.tokenUrl" but not "oauth.authorizationUrl"',
  ],
  [
    "the authorization endpoint alone",
    () => ({ authorizationUrl: thief }),
    false,
    'sets "oauth.authorizationUrl" but not "oauth.tokenUrl"',
  ],
  [
    "the place of registration alone",
    () => ({ registrationUrl: thief }),
    false,
    'sets "oauth.registrationUrl" but not "oauth.authorizationUrl"',
  ],
  [
    "endpoints under an issuer's name",
    ({ issuer }) => ({ issuer, authorizationUrl: `${issuer}/authorize`, tokenUrl: thief }),
    false,
    'sets "oauth.authorizationUrl" together with "oauth.issuer"',
  ],
  [
    "endpoints in the place of the person's own issuer",
    ({ issuer }) => ({ authorizationUrl: `${issuer}/authorize`, tokenUrl: thief }),
    true,
    'sets "oauth.authorizationUrl" together with your issuerOverride',
  ],
])("a workspace cannot name %s", async (_, settings, override, words) => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const someone = person();
  const oauth = settings(servers.authorization);
  const issuerOverride = override ? servers.authorization.issuer : undefined;
  await expect(
    signingIn(servers.guarded.url, someone, folder, { oauth, issuerOverride, isFromWorkspace: true }),
  ).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining(words),
    next: expect.stringContaining('"authorizationUrl" and "tokenUrl"'),
  });
  expect([someone.opened, servers.authorization.callsTo("token")]).toEqual([[], []]);
});

test("a workspace that names all endpoints signs in at the service that issues the tokens, and at no other", async () => {
  await using servers = await both();
  await using others = await both({
    clients: [{ clientId: "mine", redirectUris: ["http://127.0.0.1/oauth/callback"] }],
  });
  await using folder = await temporaryFolder();
  const { issuer } = others.authorization;
  const oauth = { clientId: "mine", authorizationUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token` };
  const someone = person();
  const credentials = await signingIn(servers.guarded.url, someone, folder, { oauth, isFromWorkspace: true });
  expect(credentials.issuer).toBe(new URL(issuer).origin);
  expect(JSON.stringify(someone.shown)).not.toContain(servers.authorization.issuer);
});

test("where tokens come from another host than the issuer's, that is shown before and after", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const asked: unknown[] = [];
  const someone = person({
    ui: {
      async consent({ tokenHost }) {
        asked.push(tokenHost);
        return true;
      },
    },
  });
  const tokenUrl = `${servers.authorization.issuer}/token`.replace("127.0.0.1", "localhost");
  await signingIn(servers.guarded.url, someone, folder, { oauth: { tokenUrl } });
  const { host: tokenHost } = new URL(tokenUrl);
  expect(asked).toEqual([tokenHost]);
  expect(someone.shown).toContainEqual(expect.objectContaining({ kind: "address", tokenHost }));
  expect(someone.shown).toContainEqual(expect.objectContaining({ kind: "signed_in", tokenHost }));
});

test("an entry that pins something neither reads nor replaces the sign-in of another", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { url } = servers.guarded;
  const own = await signingIn(url, person(), folder);
  const pinned = await signingIn(url, person(), folder, { pin: "a", oauth: { issuer: servers.authorization.issuer } });
  const storage = storageIn(folder);
  expect(await storage.getCredentials(url)).toEqual(own);
  expect(await storage.pinned("a").getCredentials(url)).toEqual({ ...pinned, pin: "a" });
  expect(await storage.pinned("b").getCredentials(url)).toBeUndefined();
  expect(await storage.everything()).toHaveLength(2);
  expect([...(await storage.getAllCredentials()).values()]).toEqual([own]);
  await storage.pinned("a").deleteCredentials(url);
  expect(await storage.everything()).toEqual([own]);
});

test("a pin is what an entry says about where and as whom, and of which workspace it is", async () => {
  await using world = await createWorld();
  const httpUrl = "https://docs.example/mcp";
  const pins = async (write: (content: object) => Promise<unknown>, ...entries: readonly object[]) => {
    const found: (string | undefined)[] = [];
    for (const oauth of entries) {
      await write({ mcpServers: { docs: { httpUrl, oauth } } });
      const { definition } = serverOf(await world.load(), "docs");
      found.push(definition && (await pinOf(definition)));
    }
    return found;
  };
  const user = (content: object) => world.writeUser(content);
  const workspace = (content: object) => world.writeWorkspace(content);
  const entries = [{ clientId: "a" }, { clientId: "b" }, { tokenUrl: "https://a/" }, { issuer: "https://a/" }];
  expect(await pins(user, {}, { enabled: true, scopes: ["a"] })).toEqual([undefined, undefined]);
  const users = await pins(user, ...entries);
  const workspaces = await pins(workspace, ...entries);
  expect(new Set([...users, ...workspaces]).size).toBe(8);
  for (const pin of users) expect(pin).toMatch(/^[0-9a-f]{64}$/);
  // With another digest, users would have to sign in again after an update.
  expect(users[0]).toBe("2d1c0f01aca6c2a2233ce2d9cc7da46ded55d16bf87a0a16f7dc426fe818c86f");
  expect(await pins(user, {})).not.toEqual([undefined]);
  expect(await pins(workspace, {})).toEqual([undefined]);
});
