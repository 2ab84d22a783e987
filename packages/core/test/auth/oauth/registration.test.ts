import { status, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { both } from "../both-servers.ts";
import { freePort } from "../free-port.ts";
import { asked, person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

test("a client that is not registered yet is registered as a program on the user's machine", async () => {
  await using servers = await both({}, { scopes: ["read"] });
  await using folder = await temporaryFolder();
  const someone = person();
  const { client } = await signingIn(servers.guarded.url, someone, folder);
  const redirectUri = asked(someone, "redirect_uri");
  const registrations = servers.authorization.requests.filter(({ path }) => path === "/register");
  expect(registrations.map(({ body }): unknown => JSON.parse(body))).toEqual([
    {
      client_name: "Fairlead",
      application_type: "native",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "read",
    },
  ]);
  expect(client).toMatchObject({ clientId: asked(someone, "client_id"), redirectUri, authentication: "none" });
  expect(client.registration).toMatchObject({ client_id: client.clientId, redirect_uris: [redirectUri] });
});

test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
  "a client that must prove itself with %s does, now and when it refreshes",
  async (clientAuthentication) => {
    await using servers = await both({
      clientAuthentication,
      metadata: { token_endpoint_auth_methods_supported: [clientAuthentication] },
    });
    await using folder = await temporaryFolder();
    const { client } = await signingIn(servers.guarded.url, person(), folder);
    expect(client.authentication).toBe(clientAuthentication);
    expect((await storageIn(folder).getCredentials(servers.guarded.url))?.client).toEqual(client);
  },
);

test("settings with a client need no registration", async () => {
  const prepared = { clientId: "mine", clientSecret: "hush", redirectUris: ["http://127.0.0.1/oauth/callback"] };
  await using servers = await both({ clients: [prepared], acceptsMetadataDocuments: true });
  await using folder = await temporaryFolder();
  const someone = person();
  const oauth = { clientId: "mine", clientSecret: "hush" };
  await signingIn(servers.guarded.url, someone, folder, { oauth, clientMetadataUrl: "https://us.example/client.json" });
  expect(asked(someone, "client_id")).toBe("mine");
  expect(asked(someone, "redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/);
  expect(servers.authorization.callsTo("registration")).toEqual([]);
});

test("a sign-in is stored with every address that it needs later, and with the scopes that were granted", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { issuer } = servers.authorization;
  const credentials = await signingIn(servers.guarded.url, person(), folder);
  expect(credentials.endpoints).toEqual({
    authorization: `${issuer}/authorize`,
    token: `${issuer}/token`,
    revocation: `${issuer}/revoke`,
    device: `${issuer}/device`,
  });
  expect(await storageIn(folder).getCredentials(servers.guarded.url)).toEqual(credentials);
  // Nothing was requested, so nothing is told to be granted.
  expect([credentials.scopes, credentials.tokens]).toEqual([[], expect.not.objectContaining({ scope: "" })]);
  servers.authorization.settings.metadata = {
    revocation_endpoint: undefined,
    device_authorization_endpoint: undefined,
  };
  const few = await signingIn(servers.guarded.url, person(), folder);
  expect(few.endpoints).toEqual({ authorization: `${issuer}/authorize`, token: `${issuer}/token` });
});

test("a redirect URI of the settings is used as it is written", async () => {
  const redirectUri = `http://localhost:${await freePort()}/cb`;
  await using servers = await both({ clients: [{ clientId: "mine", redirectUris: [redirectUri] }] });
  await using folder = await temporaryFolder();
  const someone = person();
  await signingIn(servers.guarded.url, someone, folder, { oauth: { clientId: "mine", redirectUri } });
  expect(asked(someone, "redirect_uri")).toBe(redirectUri);
});

test("endpoints of the settings take the place of those that are found", async () => {
  await using servers = await both();
  await using others = await both({ metadataAt: "nowhere" });
  await using folder = await temporaryFolder();
  const someone = person();
  const { issuer } = others.authorization;
  const oauth = {
    authorizationUrl: `${issuer}/authorize?tenant=1`,
    tokenUrl: `${issuer}/token`,
    registrationUrl: `${issuer}/register`,
  };
  await signingIn(servers.guarded.url, someone, folder, { oauth });
  expect(new URL(someone.opened[0] ?? "").origin).toBe(issuer);
  expect(asked(someone, "tenant")).toBe("1");
  expect(others.authorization.seen.map(({ endpoint }) => endpoint)).toEqual([
    "registration",
    "authorize",
    "authorize",
    "token",
  ]);
});

test("an issuer of the settings is asked instead of the one that the server names", async () => {
  await using servers = await both({}, { metadata: { authorization_servers: ["https://other.example"] } });
  await using folder = await temporaryFolder();
  const { issuer } = servers.authorization;
  expect(await signingIn(servers.guarded.url, person(), folder, { oauth: { issuer } })).toMatchObject({ issuer });
});

describe("a registration", () => {
  test("is used again for the next sign-in, at the same place", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const [first, second] = [person({ ui: { callbackPort: await freePort() } }), person()];
    await signingIn(servers.guarded.url, first, folder);
    await signingIn(servers.guarded.url, second, folder);
    expect(asked(second, "client_id")).toBe(asked(first, "client_id"));
    expect(asked(second, "redirect_uri")).toBe(asked(first, "redirect_uri"));
    expect(asked(second, "state")).not.toBe(asked(first, "state"));
  });

  test("that has ended is not", async () => {
    await using servers = await both({
      clientAuthentication: "client_secret_basic",
      clientSecretLife: 60,
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
    });
    await using folder = await temporaryFolder();
    await signingIn(servers.guarded.url, person(), folder);
    await signingIn(servers.guarded.url, person(), folder, { now: () => Date.now() + 61_000 });
    expect(servers.authorization.callsTo("registration").length).toBe(2);
  });

  test("that is forgotten when the code comes back is made once more", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    await signingIn(servers.guarded.url, person(), folder);
    const someone = person({ change: () => servers.authorization.forgetClients() });
    let isForgotten = false;
    const ui = {
      ...someone.ui,
      openBrowser: async (url: string) => {
        if (!isForgotten) await someone.ui.openBrowser?.(url);
        else await person().ui.openBrowser?.(url);
        isForgotten = true;
        return true;
      },
    };
    await signingIn(servers.guarded.url, { ui }, folder);
    expect(servers.authorization.callsTo("registration").length).toBe(2);
  });

  test("with which a sign-in failed is doubted: the next try makes another", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    await signingIn(servers.guarded.url, person(), folder);
    await expect(signingIn(servers.guarded.url, person({ says: "deny" }), folder)).rejects.toThrow("refused");
    // What was signed in to before still is.
    expect((await storageIn(folder).getCredentials(servers.guarded.url))?.tokens).toBeDefined();
    await signingIn(servers.guarded.url, person(), folder);
    expect(servers.authorization.callsTo("registration").length).toBe(2);
  });

  test("that is refused ends the sign-in with the words of the refusal", async () => {
    await using servers = await both({ registration: "refused" });
    await using folder = await temporaryFolder();
    await expect(signingIn(servers.guarded.url, person(), folder)).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringMatching(/failed at the client registration step: \S+\/register answered 4\d\d \(/),
    });
  });

  test("that is answered with a redirect sends nothing there", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    servers.authorization.interrupt("registration", status(307, { location: `${servers.guarded.origin}/thief` }));
    await expect(signingIn(servers.guarded.url, person(), folder)).rejects.toMatchObject({ code: "auth_failed" });
    expect(servers.guarded.seen.filter(({ path }) => path === "/thief")).toEqual([]);
  });
});

describe("where the server offers no registration", () => {
  test("the person is asked for a client, and not twice", async () => {
    const clients = [{ clientId: "typed", redirectUris: ["http://127.0.0.1/"] }];
    await using servers = await both({ registration: "absent", clients });
    await using folder = await temporaryFolder();
    const questions: unknown[] = [];
    const askClientId = async (question: { readonly redirectUri: string }): Promise<string> => {
      questions.push(question);
      servers.authorization.settings.clients = [{ clientId: "typed", redirectUris: [question.redirectUri] }];
      return " typed ";
    };
    for (let round = 0; round < 2; round += 1)
      await signingIn(servers.guarded.url, person({ ui: { askClientId } }), folder);
    const { issuer } = servers.authorization;
    const why = `${issuer} does not register clients automatically`;
    expect(questions).toEqual([
      { serverName: "docs", issuer, redirectUri: expect.stringMatching(/^http:\/\/127/), why },
    ]);
  });

  test("nor does a refused registration end it: the person may have one", async () => {
    await using servers = await both({ registration: "refused" });
    await using folder = await temporaryFolder();
    const askClientId = async ({ redirectUri, why }: { readonly redirectUri: string; readonly why: string }) => {
      expect(why).toMatch(/register answered 4\d\d/);
      servers.authorization.settings.clients = [{ clientId: "typed", redirectUris: [redirectUri] }];
      return "typed";
    };
    const { client } = await signingIn(servers.guarded.url, person({ ui: { askClientId } }), folder);
    expect(client.clientId).toBe("typed");
  });

  test("without a way to ask the user, the settings that are missing are named", async () => {
    await using servers = await both({ registration: "absent" });
    await using folder = await temporaryFolder();
    await expect(signingIn(servers.guarded.url, person(), folder)).rejects.toMatchObject({
      message: expect.stringMatching(
        /failed at the client registration step: \S+ does not register clients automatically/,
      ),
      next: expect.stringContaining('"oauth": {"clientId": "…"}'),
    });
  });
});
