import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { chromiumProgram, openChromium, webServer } from "@fairlead/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PageListener } from "../../src/server/door/page-listener.ts";
import { builtPage } from "../support/built-page.ts";
import { type OpenDoor, openDoor } from "../support/open-door.ts";
import { post, readEvents, send, signIn } from "../support/page-client.ts";
import { note } from "../support/scripted-source.ts";

/*
 * The rules that keep other programs and other sites from the console, each in Chromium. The page itself is not used
 * here: a script in its place sends what an honest or a hostile page would send.
 */

let browser: Browser;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("rules of the console", ["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("rules of the console");

/** A new window that shares nothing with others. */
async function newWindow() {
  const context = await browser.newContext();
  const page = await context.newPage();
  return { context, page, [Symbol.asyncDispose]: () => context.close() };
}

/** Runs a function of the page, written as text: the types of this file are those of Node. */
function evaluate(page: Page, body: string, argument?: unknown): Promise<unknown> {
  return page.evaluate(`(async (given) => { ${body} })(${JSON.stringify(argument ?? null)})`);
}

/** Sends a request from a page. Returns the status, or "failed" if the page may not read the answer. */
function fetchIn(page: Page, url: string, init: object = {}): Promise<unknown> {
  const sent = "return fetch(given.url, given.init).then((answer) => answer.status || answer.type, () => 'failed')";
  return evaluate(page, sent, { url, init });
}

/** A session of the console in a window on its own origin. */
async function openWindow(page: Page, door: OpenDoor): Promise<string> {
  const address = door.address();
  await page.goto(door.origin);
  const exchange = `const answer = await fetch("/api/session", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code: given, path: "/" }),
  });
  return (await answer.json()).bearer;`;
  return String(await evaluate(page, exchange, new URL(address).hash.slice(3)));
}

const command = (bearer: string, key: string): object => ({
  method: "POST",
  headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json", "idempotency-key": key },
  body: "{}",
});

test("rule 1: the console listens on 127.0.0.1, and on no other address of the machine", async () => {
  await using door = await openDoor();
  const others = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  const addresses = new Set([...others.filter((address) => address !== "127.0.0.1"), "127.0.0.2", "::1"]);
  for (const host of addresses) {
    const socket = connect({ host, port: door.listener.port });
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "connected"),
      once(socket, "error").then(([error]) => (error as NodeJS.ErrnoException).code),
    ]).catch((error: NodeJS.ErrnoException) => error.code);
    socket.destroy();
    expect([host, outcome]).not.toEqual([host, "connected"]);
  }
});

describe.runIf(chromiumProgram !== undefined)("in Chromium", () => {
  test("rule 2: a site whose name leads to this machine gets nothing, neither document nor script nor answer", async () => {
    await using door = await openDoor();
    await using other = await webServer((_, response) => response.setHeader("content-type", "text/html").end("<p>"));
    await using window = await newWindow();
    const own = `http://evil.example:${door.listener.port}`;
    const statuses: unknown[] = [];
    window.page.on("response", (response) => {
      if (response.url().startsWith(own)) statuses.push([new URL(response.url()).pathname, response.status()]);
    });
    await window.page.goto(own);
    expect(await window.page.locator("script").count()).toBe(0);
    // The answer's own policy would stop these requests, so another page of the site sends them.
    await window.page.goto(`http://evil.example:${new URL(other.origin).port}`);
    const [script = ""] = builtPage().assets.keys();
    const code = new URL(door.address()).hash.slice(3);
    await fetchIn(window.page, own + script, { mode: "no-cors" });
    await fetchIn(window.page, `${own}/api/session`, {
      method: "POST",
      mode: "no-cors",
      body: JSON.stringify({ code, path: "/" }),
    });
    expect(statuses).toEqual([["/", 421]]);
    const host = new URL(own).host;
    for (const path of ["/", script, "/api/events"])
      expect((await send(door.origin + path, { headers: { host } })).status).toBe(421);
    expect((await post(door.origin, "/api/session", { code, path: "/" }, { host })).status).toBe(421);
    // The code is still worth something: the attacker has not used it up.
    expect((await post(door.origin, "/api/session", { code, path: "/" })).status).toBe(200);
  });

  test("rule 2: localhost is another name, too", async () => {
    await using door = await openDoor();
    const { port } = door.listener;
    const hosts = [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1`, `127.0.0.1:${port + 1}`, `[::1]:${port}`];
    const replies = await Promise.all(hosts.map((host) => send(`${door.origin}/`, { headers: { host } })));
    expect(replies.map(({ status }) => status)).toEqual([421, 421, 421, 421, 421]);
    for (const { body } of replies) expect(body).not.toContain("<script");
  });

  test("rule 3: the code is in no request, and works once", async () => {
    const seen: string[] = [];
    await using recorder = await webServer(({ path, headers }, response) => {
      seen.push(path, JSON.stringify(headers));
      response.setHeader("content-type", "text/html").end("<script src=/a.js></script>");
    });
    await using door = await openDoor();
    await using window = await newWindow();
    const { hash } = new URL(door.address());
    await window.page.goto(`${recorder.origin}/${hash}`);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.join("\n")).not.toContain(hash.slice(3));

    const bearer = await openWindow(window.page, door);
    expect(bearer).toMatch(/^[\w-]{43}$/);
    await using second = await newWindow();
    await second.page.goto(door.origin);
    const address = door.address();
    const body = JSON.stringify({ code: new URL(address).hash.slice(3), path: "/" });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    expect(await fetchIn(window.page, "/api/session", init)).toBe(200);
    expect(await fetchIn(second.page, "/api/session", init)).toBe(401);
  });

  test("rule 4: no cookie is set, and a server on another port gets nothing of the session", async () => {
    await using door = await openDoor();
    await using other = await webServer((_, response) => response.setHeader("content-type", "text/html").end("<p>"));
    await using window = await newWindow();
    const bearer = await openWindow(window.page, door);
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "a"))).toBe(200);
    expect(await evaluate(window.page, "return document.cookie")).toBe("");
    expect(await window.context.cookies()).toEqual([]);
    await window.page.goto(other.origin);
    expect(await evaluate(window.page, "return sessionStorage.length")).toBe(0);
    expect(JSON.stringify(other.seen)).not.toContain(bearer);
  });

  test("rule 5, rule 6: pages of other ports, names and sites neither read nor change anything, even with a stolen bearer", async () => {
    await using door = await openDoor();
    await using other = await webServer((_, response) => response.setHeader("content-type", "text/html").end("<p>"));
    await using window = await newWindow();
    const bearer = await openWindow(window.page, door);
    const otherPort = new URL(other.origin).port;
    const [script = ""] = builtPage().assets.keys();
    for (const site of [other.origin, `http://localhost:${otherPort}`, `http://evil.example:${otherPort}`]) {
      await using foreign = await newWindow();
      const answers: number[] = [];
      foreign.page.on("response", (response) => {
        if (response.url().startsWith(door.origin)) answers.push(response.status());
      });
      await foreign.page.goto(site);
      const api = `${door.origin}/api/verb`;
      const text = { ...command(bearer, "b"), mode: "no-cors", headers: { "content-type": "text/plain" } };
      expect([
        site,
        await fetchIn(foreign.page, api, text),
        await fetchIn(foreign.page, api, { method: "POST", mode: "no-cors", body: "{}" }),
        await fetchIn(foreign.page, api, command(bearer, "c")),
        await fetchIn(foreign.page, `${door.origin}/api/events`, { headers: { authorization: `Bearer ${bearer}` } }),
        await fetchIn(foreign.page, door.origin),
        await fetchIn(foreign.page, door.origin + script),
        await evaluate(
          foreign.page,
          `return new Promise((resolve) => {
            const script = document.createElement("script");
            script.src = given;
            script.onload = () => resolve("ran");
            script.onerror = () => resolve("failed");
            document.head.append(script);
          })`,
          door.origin + script,
        ),
      ]).toEqual([site, "failed", "failed", "failed", "failed", "failed", "failed", "failed"]);
      expect(answers.every((status) => status === 403)).toBe(true);
    }
    expect(door.source.commands).toEqual([]);
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "d"))).toBe(200);
  });

  test("rule 7: a form of another site changes nothing", async () => {
    await using door = await openDoor();
    await using other = await webServer((_, response) =>
      response
        .setHeader("content-type", "text/html")
        .end(
          `<form method=post enctype=text/plain action="${door.origin}/api/calls/tool"><input name='{"a":"' value='"}'></form>`,
        ),
    );
    await using window = await newWindow();
    await window.page.goto(other.origin);
    const answered = window.page.waitForResponse((response) => response.url().startsWith(door.origin));
    await evaluate(window.page, "document.forms[0].submit()");
    expect((await answered).status()).toBe(403);
    const headers = { ...(await signIn(door.address())), "idempotency-key": "a", "content-type": "text/plain" };
    expect((await post(door.origin, "/api/calls/tool", "{}", headers)).status).toBe(415);
    expect(door.source.commands).toEqual([]);
  });

  test("rule 8: the console is shown in no frame, not even in one of its own", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    await using other = await webServer((_, response) =>
      response.setHeader("content-type", "text/html").end(`<iframe src="${door.origin}/"></iframe>`),
    );
    await window.page.goto(other.origin);
    const [, ...frames] = window.page.frames();
    for (const frame of frames) expect(frame.url()).not.toContain(door.origin);
    expect(frames.length).toBe(1);
    await window.page.goto(door.origin);
    const made = `const frame = document.createElement("iframe"); frame.src = "/";
      return new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective));
        frame.onload = () => setTimeout(resolve, 5000, "loaded");
        document.body.append(frame);
      })`;
    expect(await evaluate(window.page, made)).toBe("frame-src");
  });

  test("rule 9: a text becomes no HTML, and no script of the page's own comes from a text", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    await window.page.goto(door.origin);
    const attempt = (code: string): Promise<unknown> =>
      evaluate(window.page, `try { ${code}; return "worked" } catch (error) { return error.name }`);
    expect([
      await attempt("document.body.innerHTML = '<b>'"),
      await attempt("document.body.insertAdjacentHTML('beforeend', '<b>')"),
      await attempt("new DOMParser().parseFromString('<b>', 'text/html')"),
      await attempt("document.createElement('script').src = '/a.js'"),
      await attempt("document.body.setAttribute('onclick', '1')"),
      await attempt("trustedTypes.createPolicy('other', {})"),
    ]).toEqual(Array.from({ length: 6 }, () => "TypeError"));
  });

  test("rule 10: the console loads nothing from elsewhere, and its headers keep it apart", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    const urls: string[] = [];
    window.page.on("request", (request) => urls.push(request.url()));
    await window.page.goto(door.origin, { waitUntil: "load" });
    expect(urls.length).toBeGreaterThan(1);
    expect(urls.filter((url) => !url.startsWith(`${door.origin}/`))).toEqual([]);
    const policy = (await send(`${door.origin}/`)).headers["content-security-policy"];
    expect(policy).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types dompurify",
    );
    const leaks = `const tried = (make) => new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
      make();
    });
    return [
      await tried(() => void fetch("http://127.0.0.1:1/").catch(() => {})),
      await tried(() => { new Image().src = "http://127.0.0.1:1/a.png" }),
      await tried(() => { new Image().src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=" }),
      await tried(() => { try { new WebSocket("ws://127.0.0.1:1/") } catch {} }),
    ]`;
    expect(await evaluate(window.page, leaks)).toEqual(["connect-src", "img-src", "img-src", "connect-src"]);
  });

  test("rule 15: an answer with a server's text is never shown as a document", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    const bearer = await openWindow(window.page, door);
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "a"))).toBe(200);
    // A person who types the address of an answer.
    const opened = await window.page.goto(`${door.origin}/api/events`).catch(() => null);
    expect(opened?.status() ?? 403).toBe(403);
    const headers = { authorization: `Bearer ${bearer}` };
    for (const reply of [
      await post(door.origin, "/api/verb", {}, { ...headers, "idempotency-key": "b" }),
      await send(`${door.origin}/api/none`, { headers }),
    ])
      expect(reply.headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "content-disposition": "attachment",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      });
  });

  test("rule 19: with the console its bearers end, also for a new console at the same port", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    const bearer = await openWindow(window.page, door);
    const { port } = door.listener;
    await door.close();
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "a"))).toBe("failed");
    const listener = await PageListener.listen({ files: builtPage(), clock: { after: () => () => {} }, port });
    const { source, ring } = door;
    listener.open({ kind: "console", path: "/", source, ring });
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "b"))).toBe(401);
    await listener.close();
    expect(source.commands).toEqual([]);
  });

  test("a browser with five open streams still gets answers to commands: only streams stay open", async () => {
    await using door = await openDoor();
    await using window = await newWindow();
    const bearer = await openWindow(window.page, door);
    // Chromium opens six connections to one address, for all its windows.
    const streams = `for (let at = 0; at < 5; at += 1) await fetch("/api/events", { headers: { authorization: "Bearer " + given.bearer } });`;
    await evaluate(window.page, streams, { bearer });
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "a"))).toBe(200);
    expect(await fetchIn(window.page, "/api/verb", command(bearer, "b"))).toBe(200);
  });
});

test("rule 10: every answer has the headers, also a refusal", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  door.source.emit(note("x"));
  await using reader = await readEvents(door.origin, headers);
  const [script = ""] = builtPage().assets.keys();
  const replies = [
    await send(`${door.origin}/`),
    await send(door.origin + script),
    await send(`${door.origin}/none`),
    await send(`${door.origin}/`, { headers: { host: "evil.example" } }),
    await send(`${door.origin}/api/verb`, { method: "OPTIONS" }),
    await post(door.origin, "/api/verb", {}, headers),
    await post(door.origin, "/api/session", {}),
    { headers: reader.headers },
  ];
  for (const reply of replies) {
    expect(reply.headers).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
    });
    const names = Object.keys(reply.headers);
    expect(names.filter((name) => name.startsWith("access-control-") || name === "set-cookie")).toEqual([]);
  }
  const kept = replies.filter((reply) => reply.headers["cache-control"] !== "no-store");
  expect(kept.length).toBe(1);
});
