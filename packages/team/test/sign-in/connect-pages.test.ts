/** The pages for sign-ins, in Chromium: two replicas behind a balancer, a real issuer of the company, PostgreSQL. */

import { testDatabase } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, person } from "./support/browser.ts";
import { type ConnectScene, connectScene } from "./support/connect-scene.ts";

const database = await testDatabase("pages for sign-ins of a team");
const browser: Browser | undefined = await openBrowser();
afterAll(async () => {
  await browser?.close();
  await database?.[Symbol.asyncDispose]();
});

describe.runIf(database !== undefined && browser !== undefined)("the page of a link", () => {
  let scene: ConnectScene;
  beforeAll(async () => {
    if (database !== undefined) scene = await connectScene(database.server);
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  const newPerson = () => {
    if (browser === undefined) throw new Error("no browser");
    return person(browser);
  };

  it("asks for a login, then for consent, and signs the user in at the server's issuer", async () => {
    await using ada = await newPerson();
    const { page } = ada;
    await ada.open(scene.link("ada"), "ada");
    expect(await page.locator("h1").textContent(), await page.content()).toBe("Sign in to notes?");
    const words = await page.locator("main").textContent();
    for (const part of [
      "claude-code",
      scene.server.url,
      scene.issuer.issuer,
      "read",
      "The user ada",
      `${scene.company.issuer}#ada`,
    ])
      expect(words).toContain(part);
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
    expect(scene.errors).toEqual([]);
  });
});
