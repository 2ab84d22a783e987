/** Attacks on the pages for sign-ins: by other users, other sites, servers, issuers, and changed values. */

import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createBoundedFetch } from "@fairlead/core/connect";
import { certificate, certificateKey, testDatabase } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { disconnectUser } from "../../src/sign-in/server-sign-in.ts";
import { openBrowser, type Person, person } from "./support/browser.ts";
import { type ConnectScene, connectScene } from "./support/connect-scene.ts";

const database = await testDatabase("attacks on the pages for sign-ins of a team");
const browser: Browser | undefined = await openBrowser();
afterAll(async () => {
  await browser?.close();
  await database?.[Symbol.asyncDispose]();
});
const hostile = `"><script>document.title="hacked"</script><img src=x onerror="document.title='hacked'">'`;

describe.runIf(database !== undefined && browser !== undefined)("the pages for sign-ins", () => {
  let scene: ConnectScene;
  let ada: Person;
  let eve: Person;
  beforeAll(async () => {
    if (database === undefined || browser === undefined) return;
    scene = await connectScene(database.server, {
      servers: () => ({ [hostile]: { httpUrl: "http://127.0.0.1:9/mcp" } }),
    });
    [ada, eve] = await Promise.all([person(browser), person(browser)]);
    await ada.open(`${scene.front.url}/connect`, "ada");
    await eve.open(`${scene.front.url}/connect`, "eve");
  });
  afterAll(async () => {
    await ada[Symbol.asyncDispose]();
    await eve[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const fetchFor = (near: string) => createBoundedFetch({ near, env: {}, maxRedirects: 0 });
    for (const user of ["ada", "eve"]) await disconnectUser(scene.owner(user), { ...scene.store, fetchFor });
    scene.issuer.settings.iss = "right";
  });
  const grantsOf = async (user: string) => (await scene.store.grants.list(scene.owner(user))).length;
  const heading = ({ page }: Person) => page.locator("h1").textContent();
  const problem = ({ page }: Person) => page.locator('[role="alert"]').textContent();

  /** Where a browser without cookies is sent. */
  async function locationOf(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
    const context = await browser?.newContext({ ignoreHTTPSErrors: true });
    const response = await context?.request.get(`${scene.front.url}${path}`, { headers, maxRedirects: 0 });
    const { location } = response?.headers() ?? {};
    await context?.close();
    return location;
  }

  /** Begins a sign-in, and returns the address with the issuer's answer, which the browser has not opened. */
  async function answerFor(who: Person, user: string): Promise<string> {
    await who.page.goto(scene.link(user));
    const held = scene.front.hold("/oauth/callback");
    await who.page.locator("button.primary").click();
    return held;
  }

  it("refuse a link that another user's program has made", async () => {
    const asked = scene.issuer.callsTo("authorize").length;
    await ada.page.goto(scene.link("eve"));
    expect(await heading(ada)).toBe("This link is for another user");
    expect(await ada.page.content()).not.toContain("#eve");
    // The form of another page does not help either.
    await ada.page.goto(scene.link("ada"));
    const link = new URL(scene.link("eve")).searchParams.get("s") ?? "";
    await ada.page.locator('input[name="s"]').evaluate((input, value) => input.setAttribute("value", value), link);
    await ada.page.locator("button.primary").click();
    expect(await heading(ada)).toBe("This link is for another user");
    expect(scene.issuer.callsTo("authorize")).toHaveLength(asked);
    expect([await grantsOf("ada"), await grantsOf("eve")]).toEqual([0, 0]);
  });

  it("take an issuer's answer once", async () => {
    const answer = await answerFor(ada, "ada");
    await ada.page.goto(answer);
    expect(await grantsOf("ada")).toBe(1);
    const exchanges = scene.issuer.callsTo("token").length;
    await ada.page.goto(answer);
    expect(await problem(ada)).toContain("already ended");
    expect(scene.issuer.callsTo("token")).toHaveLength(exchanges);
  });

  it("refuse an answer that belongs to another user's browser", async () => {
    const exchanges = scene.issuer.callsTo("token").length;
    const answer = await answerFor(eve, "eve");
    await ada.page.goto(answer);
    expect(await problem(ada)).toContain("by another user or in another browser");
    expect(scene.issuer.callsTo("token")).toHaveLength(exchanges);
    expect(await grantsOf("ada")).toBe(0);
    // The real user can still end it.
    await eve.page.goto(answer);
    expect(await grantsOf("eve")).toBe(1);
  });

  it("refuse the answer of another browser of the same user", async () => {
    if (browser === undefined) return;
    await using second = await person(browser);
    await second.open(`${scene.front.url}/connect`, "ada");
    await second.page.goto(await answerFor(ada, "ada"));
    expect(await problem(second)).toContain("in another browser");
    expect(await grantsOf("ada")).toBe(0);
  });

  it("refuse an answer whose iss is that of another issuer", async () => {
    scene.issuer.settings.iss = "wrong";
    const exchanges = scene.issuer.callsTo("token").length;
    await ada.page.goto(await answerFor(ada, "ada"));
    expect(await problem(ada)).toContain("comes from another authorization server");
    expect(scene.issuer.callsTo("token")).toHaveLength(exchanges);
    expect(await grantsOf("ada")).toBe(0);
  });

  it("refuse changed links, states and cookies", async () => {
    const changed = (text: string): string => `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`;
    await ada.page.goto(changed(scene.link("ada")));
    expect(await problem(ada)).toContain("This link is older than an hour, was changed");
    const url = new URL(await answerFor(ada, "ada"));
    url.searchParams.set("state", changed(url.searchParams.get("state") ?? ""));
    await ada.page.goto(url.href);
    expect(await problem(ada)).toContain("was changed");
    // A link for one server is none for another.
    const link = new URL(scene.link("ada")).searchParams.get("s");
    await ada.page.goto(`${scene.front.url}/connect/${encodeURIComponent(hostile)}?s=${link}`);
    expect(await problem(ada)).toContain("is for another server");
    const [cookie] = await ada.page.context().cookies(scene.front.url);
    const cookies = { cookie: `${cookie?.name}=${changed(cookie?.value ?? "")}` };
    expect(await locationOf("/connect", cookies)).toContain(`${scene.company.issuer}/auth?`);
    expect(await grantsOf("ada")).toBe(0);
  });

  it("send browsers to no other site than the issuers", async () => {
    const paths = [
      "/connect?issuer=https://evil.example",
      "/connect/%2F%2Fevil.example",
      "/connect/..%2F..%2Fx?s=https://evil.example",
      "/oauth/login?returnTo=https://evil.example",
      "/oauth/callback?state=https://evil.example",
    ];
    for (const path of paths) {
      const location = await locationOf(path);
      if (location !== undefined) expect(new URL(location, scene.front.url).origin).toBe(scene.company.issuer);
    }
  });

  it("cannot be framed", async () => {
    if (browser === undefined) return;
    await using site = await foreignSite((url) => `<iframe src="${scene.front.url}/connect"></iframe>${url}`);
    const { page } = ada;
    await page.goto(site.url);
    const frame = page.frames().find((each) => each !== page.mainFrame());
    await page.waitForLoadState();
    expect(await frame?.content().catch(() => "")).not.toContain("Your sign-ins");
  });

  it("end no sign-in for another site, also not for one on another port of the same host", async () => {
    await ada.page.goto(await answerFor(ada, "ada"));
    expect(await grantsOf("ada")).toBe(1);
    await using site = await foreignSite(
      () => `<form method="post" action="${scene.front.url}/connect"><input name="do" value="disconnect">
        <input name="server" value="notes"><input name="token" value="none"><button>Win a prize</button></form>`,
    );
    for (const host of ["127.0.0.1", "localhost"]) {
      await ada.page.goto(site.url.replace("127.0.0.1", host));
      const answered = ada.page.waitForResponse(`${scene.front.url}/connect`);
      await ada.page.locator("button").click();
      expect((await answered).status()).toBe(403);
    }
    expect(await grantsOf("ada")).toBe(1);
  });

  it("share their cookie with other ports of their host, as all cookies, so the gateway needs a host name of its own", async () => {
    await using site = await foreignSite(() => "");
    await ada.page.goto(site.url.replace("127.0.0.1", "localhost"));
    expect(site.cookies.at(-1)).toContain("__Host-fairlead-session=");
    await ada.page.goto(site.url);
    expect(site.cookies.at(-1) ?? "").not.toContain("__Host-fairlead-session=");
  });

  it("run nothing that names, metadata and answers contain", async () => {
    if (browser === undefined) return;
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    await context.addCookies(await ada.page.context().cookies());
    const page = await context.newPage();
    await page.goto(`${scene.front.url}/connect`);
    expect(await page.locator("h2").allTextContents()).toContain(hostile);
    scene.server.settings.metadata = { scopes_supported: [hostile] };
    scene.server.settings.challengeWith = ["resource_metadata"];
    await page.goto(scene.link("ada", hostile));
    expect(await page.locator("main").textContent()).toContain("<script>");
    expect(await page.title()).toBe("Sign in to notes – Fairlead");
    scene.server.settings.metadata = { resource: `https://${hostile}` };
    await page.goto(scene.link("ada"));
    expect(await page.locator('[role="alert"]').textContent()).toContain("<script>");
    await page.goto(`${scene.front.url}/connect?done=${encodeURIComponent(hostile)}`);
    expect(await page.title()).toBe("Your sign-ins – Fairlead");
    scene.server.settings.metadata = {};
    await context.close();
  });

  it("have headers against scripts, frames, caches and referrers", async () => {
    for (const path of ["/connect", "/connect/notes", "/oauth/callback", "/oauth/login"]) {
      const response = await ada.page.context().request.get(`${scene.front.url}${path}`);
      const headers = response.headers();
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
      });
      expect(headers["content-security-policy"]).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
    }
    for (const { httpOnly, secure, sameSite, path } of await ada.page.context().cookies(scene.front.url))
      expect({ httpOnly, secure, sameSite, path }).toEqual({
        httpOnly: true,
        secure: true,
        sameSite: "Lax",
        path: "/",
      });
  });

  it("give a browser few cookies, however often it begins a login", async () => {
    const context = await browser?.newContext({ ignoreHTTPSErrors: true });
    for (let count = 0; count < 8; count += 1)
      await context?.request.get(`${scene.front.url}/connect`, { maxRedirects: 0 });
    expect(await context?.cookies(scene.front.url)).toHaveLength(4);
    await context?.close();
  });

  it("log nobody in with an answer that another browser has asked for", async () => {
    if (browser === undefined) return;
    await using first = await person(browser);
    await using second = await person(browser);
    const held = scene.front.hold("/oauth/login");
    const opening = first.open(`${scene.front.url}/connect`, "eve").catch(() => undefined);
    await second.page.goto(await held);
    await opening;
    expect(await problem(second)).toContain("begun in another browser");
    expect(await second.page.context().cookies(scene.front.url)).toEqual([]);
  });
});

/** Another site, over https. */
async function foreignSite(body: (url: string) => string) {
  const cookies: string[] = [];
  const server = createServer({ cert: certificate, key: certificateKey }, (request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.writeHead(200, { "content-type": "text/html" }).end(body(request.url ?? ""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    cookies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
