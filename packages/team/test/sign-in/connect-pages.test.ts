/** The pages for sign-ins, in Chromium: two replicas behind a balancer, a real issuer of the company, PostgreSQL. */

import { PostgresServer, testDatabase } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { axeViolations, openBrowser, type Person, person } from "./support/browser.ts";
import { type ConnectScene, connectScene } from "./support/connect-scene.ts";

const database = await testDatabase("pages for sign-ins of a team");
const browser: Browser | undefined = await openBrowser();
afterAll(async () => {
  await browser?.close();
  await database?.[Symbol.asyncDispose]();
});
const newPerson = (): Promise<Person> => {
  if (browser === undefined) throw new Error("no browser");
  return person(browser);
};
const newScene = (options?: Parameters<typeof connectScene>[1]): Promise<ConnectScene> => {
  if (database === undefined) throw new Error("no PostgreSQL");
  return connectScene(database.server, options);
};
const isComplete = database !== undefined && browser !== undefined;

describe.runIf(isComplete)("the pages for sign-ins", () => {
  let scene: ConnectScene;
  let ada: Person;
  beforeAll(async () => {
    scene = await newScene();
    ada = await newPerson();
  });
  afterEach(() => expect(scene.errors).toEqual([]));
  afterAll(async () => {
    await ada[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
  });

  it("ask for a login, then for consent, and sign the user in at the server's issuer", async () => {
    const { page } = ada;
    await ada.open(scene.link("ada"), "ada");
    expect(await page.locator("h1").textContent(), await page.content()).toBe("Sign in to notes?");
    const words = await page.locator("main").textContent();
    const parts = ["claude-code", scene.server.url, scene.issuer.issuer, "read", "The user ada"];
    for (const part of [...parts, `${scene.company.issuer}#ada`]) expect(words).toContain(part);
    expect(scene.issuer.callsTo("authorize")).toHaveLength(0);
    await page.locator("button.primary").click();
    await page.waitForURL(`${scene.front.url}/connect?done=notes`);
    expect(await page.locator('[role="status"]').textContent()).toContain("You are signed in to notes");
    const [grant] = await scene.store.grants.list(scene.owner("ada"));
    expect(JSON.parse(grant?.secret ?? "")).toMatchObject({ serverUrl: scene.server.url, resource: scene.server.url });
    const [asked] = scene.issuer.callsTo("authorize");
    expect(Object.fromEntries(asked?.params ?? [])).toMatchObject({
      code_challenge_method: "S256",
      redirect_uri: `${scene.front.url}/oauth/callback`,
      resource: scene.server.url,
      scope: "read",
    });
  });

  it("list the user's sign-ins, and end one and its tokens", async () => {
    const { page } = ada;
    await ada.open(`${scene.front.url}/connect`, "ada");
    const row = page.locator("li.server");
    expect(await row.textContent()).toContain(`Signed in at ${scene.issuer.issuer}, scopes: read.`);
    const [grant] = await scene.store.grants.list(scene.owner("ada"));
    const { accessToken } = JSON.parse(grant?.secret ?? "").tokens;
    expect(scene.issuer.findLiveToken(accessToken)).toBeDefined();
    await page.getByRole("button", { name: "Disconnect – notes" }).click();
    expect(await page.locator("main").textContent()).toContain(`${scene.issuer.issuer} has revoked the tokens.`);
    expect(scene.issuer.findLiveToken(accessToken)).toBeUndefined();
    expect(await scene.store.grants.list(scene.owner("ada"))).toEqual([]);
    await page.getByRole("link", { name: "Your sign-ins" }).click();
    expect(await row.textContent()).toContain("Not signed in.");
  });

  it("say so if the issuer offers no revocation, or refuses it", async () => {
    const { page } = ada;
    for (const [hasRevocation, words] of [
      [false, "offers no revocation"],
      [true, "did not confirm the revocation"],
    ] as const) {
      scene.issuer.settings.hasRevocation = hasRevocation;
      await ada.open(`${scene.front.url}/connect/notes`, "ada");
      await page.locator("button.primary").click();
      await page.waitForURL(/done=notes/);
      if (hasRevocation) scene.issuer.interrupt("revoke", (_, response) => response.writeHead(503).end(), 2);
      await page.getByRole("button", { name: "Disconnect – notes" }).click();
      expect(await page.locator("main").textContent()).toContain(words);
      expect(await scene.store.grants.list(scene.owner("ada"))).toEqual([]);
    }
  });

  it("tell what the issuer has refused, and how to start again", async () => {
    scene.issuer.settings.consent = "page";
    const { page } = ada;
    await ada.open(scene.link("ada"), "ada");
    await page.locator("button.primary").click();
    await page.getByRole("button", { name: "Deny" }).click();
    expect(await page.locator('[role="alert"]').textContent()).toContain("refused the sign-in (access_denied)");
    expect(await page.locator("main").textContent()).toContain("Open the link again");
    scene.issuer.settings.consent = "automatic";
  });

  it("name a server that does not exist, and one whose metadata is broken", async () => {
    const { page } = ada;
    await ada.open(`${scene.front.url}/connect/none`, "ada");
    expect(await page.locator('[role="alert"]').textContent()).toContain('There is no server "none"');
    scene.server.settings.metadata = { authorization_servers: ["http://elsewhere.example"] };
    await page.goto(scene.link("ada"));
    expect(await page.locator('[role="alert"]').textContent()).toContain("is not the https address");
    scene.server.settings.metadata = {};
  });

  it("end the session of a browser", async () => {
    const { page } = ada;
    await ada.open(`${scene.front.url}/connect`, "ada");
    await page.getByRole("button", { name: "Log out of this page" }).click();
    expect(await page.locator("h1").textContent()).toBe("Logged out");
    expect(await page.context().cookies(scene.front.url)).toEqual([]);
    const response = await page.context().request.get(`${scene.front.url}/connect`, { maxRedirects: 0 });
    expect(response.status()).toBe(303);
  });

  it("register one client at an issuer, if two replicas do it at the same time", async () => {
    await using other = await newScene();
    await using eve = await newPerson();
    await ada.open(other.link("ada"), "ada");
    await eve.open(other.link("eve"), "eve");
    await Promise.all([ada, eve].map(({ page }) => page.locator("button.primary").click()));
    await Promise.all([ada, eve].map(({ page }) => page.waitForURL(/done=notes/)));
    const ids = other.issuer.callsTo("authorize").map(({ params }) => params.get("client_id"));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it("use the gateway's client metadata document, if the settings name it", async () => {
    await using other = await newScene({
      authorization: { acceptsMetadataDocuments: true },
      fairlead: (front) => ({ clientMetadataUrl: `${front}/oauth/client` }),
    });
    await ada.open(other.link("ada"), "ada");
    await ada.page.locator("button.primary").click();
    await ada.page.waitForURL(/done=notes/);
    expect(other.issuer.callsTo("registration")).toHaveLength(0);
    expect(other.issuer.callsTo("authorize")[0]?.params.get("client_id")).toBe(`${other.front.url}/oauth/client`);
  });

  it("use the client of the settings, and send its secret only to the token endpoint", async () => {
    await using other = await newScene({
      servers: ({ server, issuer }) => ({
        own: {
          httpUrl: server.url,
          oauth: { clientId: "company", clientSecret: "very secret", issuer: issuer.issuer },
        },
      }),
    });
    other.issuer.settings.clients = [
      { clientId: "company", clientSecret: "very secret", redirectUris: [`${other.front.url}/oauth/callback`] },
    ];
    await ada.open(other.link("ada", "claude-code", "own"), "ada");
    await ada.page.locator("button.primary").click();
    await ada.page.waitForURL(/done=own/);
    expect(other.issuer.callsTo("registration")).toHaveLength(0);
    expect(other.issuer.callsTo("authorize")[0]?.request.path).not.toContain("secret");
  });

  it("wait for PostgreSQL, and take the same answer when it is back", async () => {
    await using postgres = await PostgresServer.open();
    if (postgres === undefined) return;
    await using other = await connectScene(postgres);
    const { page } = ada;
    await ada.open(other.link("ada"), "ada");
    const held = other.front.hold("/oauth/callback");
    await page.locator("button.primary").click();
    const answer = await held;
    await postgres.stop("immediate");
    const response = await page.goto(answer);
    expect(response?.status()).toBe(503);
    expect(await page.locator("main").textContent()).toContain("Reload this page in a minute; nothing is lost.");
    await postgres.start();
    await page.goto(answer);
    expect(page.url()).toBe(`${other.front.url}/connect?done=notes`);
  });

  it("say what an administrator has to do if browsers cannot log in", async () => {
    await using other = await newScene({ hasLogin: false });
    const { page } = ada;
    await page.goto(`${other.front.url}/connect/notes`);
    const words = await page.locator("main").textContent();
    expect(words).toContain("This gateway has no login for browsers");
    expect(words).toContain('sets "browser"');
    const request = { owner: other.owner("ada"), client: "claude", server: "notes", scopes: [] };
    expect(other.signIns[0]?.linkFor(request)).toBeUndefined();
  });

  it("have nothing that axe finds wrong, in light, dark and on a phone", async () => {
    if (browser === undefined) return;
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await ada.open(`${scene.front.url}/connect`, "ada");
    await context.addCookies(await ada.page.context().cookies());
    const paths = ["/connect", "/connect/none", "/oauth/callback?state=x", scene.link("ada"), scene.link("eve")];
    for (const path of paths)
      for (const [colorScheme, width] of [
        ["light", 1024],
        ["dark", 360],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 740 });
        await page.goto(new URL(path, scene.front.url).href);
        expect(await axeViolations(page), `${path} ${colorScheme}`).toEqual([]);
        expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
        const pictures = process.env["FAIRLEAD_TEST_PICTURES"];
        if (pictures !== undefined)
          await page.screenshot({ path: `${pictures}/${paths.indexOf(path)}-${colorScheme}.png`, fullPage: true });
      }
    await context.close();
  });
});
