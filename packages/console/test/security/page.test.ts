import { join } from "node:path";
import { systemClock } from "@fairlead/core/clock";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { EventRing } from "../../src/server/door/event-ring.ts";
import { PageListener } from "../../src/server/door/page-listener.ts";
import { go, hasChromium, useChromium } from "../page/support/console-window.ts";
import { sampleSource } from "../page/support/sample-state.ts";
import { servePage } from "../page/support/served-page.ts";
import { allowAll, consoleScene, ofType } from "../state/scene.ts";
import { builtPage } from "../support/built-page.ts";

const chromium = useChromium("session of the console");

const message = (page: Page, title: string): Promise<void> =>
  page.getByRole("heading", { level: 1, name: title }).waitFor();

const live = (page: Page): Promise<void> => page.getByText("live", { exact: true }).first().waitFor();

/** Everything that the page could keep. */
const kept = (page: Page): Promise<unknown> =>
  page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.length])",
  );

describe.runIf(hasChromium)("the real page in Chromium", () => {
  test("rule 3: the address loses its code at once, also in the browser's history, and works in no second window", async () => {
    await using here = await chromium.open();
    const { page, context, requests } = here;
    const again = here.served.address();
    const code = again.replace(/.*#k=/, "");
    await page.goto("about:blank");
    await page.goto(again);
    await live(page);
    expect(page.url()).not.toContain("k=");
    expect(await kept(page)).not.toContain(code);
    expect(requests.join("\n")).not.toContain(code);
    await page.goBack();
    await page.goForward();
    await live(page);
    expect(page.url()).not.toContain(code);
    const second = await context.newPage();
    await second.goto(again);
    await message(second, "This address was used before, or is too old");
    expect(here.complaints).toEqual([]);
  });

  test("rule 4: the session is this tab's: a reload keeps it, another tab has none, and no cookie exists", async () => {
    await using here = await chromium.open();
    const { page, context, served } = here;
    await page.reload();
    await live(page);
    expect(await context.cookies()).toEqual([]);
    const origin = `http://127.0.0.1:${served.port}`;
    const bearers = await page.evaluate("Object.values(sessionStorage).join()");
    expect(await page.evaluate("Object.values(localStorage).join()")).not.toContain(
      /[\w-]{43}/.exec(String(bearers))?.[0] ?? "no bearer",
    );
    const other = await context.newPage();
    await other.goto(origin);
    await message(other, "Address incomplete");
    expect(here.source.commands.map(([verb]) => verb)).not.toContain("servers/stop");
  });

  test("rule 19: a console that is closed leaves a page that says so, and a new one at its port does not know the page", async () => {
    await using here = await chromium.open();
    const { page, served } = here;
    const { port } = served;
    await served[Symbol.asyncDispose]();
    await message(page, "This console was closed");
    await using next = await servePage(sampleSource(), { port });
    await page.reload();
    await message(page, "This session has ended");
    await page.reload();
    await message(page, "Address incomplete");
    await page.goto(next.address());
    await live(page);
  });

  test("the stream is the only request that stays open, and pages that are opened beside each other all work", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const { context, served } = here;
    const pages = [here.page];
    const open = new Map<Page, Set<string>>();
    const watch = (page: Page): void => {
      const pending = new Set<string>();
      open.set(page, pending);
      page.on("request", (request) => pending.add(new URL(request.url()).pathname));
      page.on("requestfinished", (request) => pending.delete(new URL(request.url()).pathname));
      page.on("requestfailed", (request) => pending.delete(new URL(request.url()).pathname));
    };
    // The one stream of all tabs is read by the first.
    watch(here.page);
    await here.page.reload();
    await live(here.page);
    for (let at = 0; at < 3; at += 1) {
      const page = await context.newPage();
      watch(page);
      pages.push(page);
      await page.goto(served.address());
      await live(page);
      await page.getByRole("link", { name: "History" }).first().click();
      await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
      await expect
        .poll(() => [...open.values()].map((pending) => [...pending]))
        .toEqual([["/api/events"], ...pages.slice(1).map(() => [])]);
    }
  });

  test("rule 18: no planted secret is in an answer of the console or in its page", async () => {
    const planted = "planted-7f3a9c-secret-value";
    await using folder = await temporaryFolder();
    const leak = { content: [{ type: "text", text: `the token is ${planted}` }], structuredContent: { id: planted } };
    await folder.write("results.json", { leak });
    await using scene = await consoleScene({
      servers: {
        leaky: { ...stdioServer("results", join(folder.path, "results.json")), env: { API_TOKEN: planted } },
      },
      rules: allowAll,
      fairlead: { audit: { arguments: true } },
    });
    const listener = await PageListener.listen({ files: builtPage(), clock: systemClock, port: 0 });
    const ring = new EventRing();
    const stop = scene.state.onEvent((event) => ring.add(event));
    const console = listener.open({ kind: "console", path: "/", source: scene.state, ring });
    await using here = await chromium.open();
    const page = await here.context.newPage();
    const bodies: Promise<string>[] = [];
    page.on("response", (response) => {
      const isStream = response.headers()["content-type"]?.startsWith("text/event-stream") === true;
      if (!isStream) bodies.push(response.text().catch(() => ""));
    });
    await page.goto(console.newAddress(60_000));
    await live(page);
    await scene.run("calls/tool", { call: "c", server: "leaky", tool: "leak", args: { token: planted } });
    await scene.event(ofType("call", ({ call }) => call.id === "c" && call.endedAt !== undefined));
    const shown: string[] = [];
    for (const view of ["", "servers", "servers/leaky", "tools", "tools/leaky/leak", "traffic", "history"]) {
      await go(page, `#/${view}`);
      shown.push(await page.content());
    }
    const stream: string[] = [];
    for (let number = 0, read = ring.after(0, 1e9); read !== undefined; read = ring.after(number, 1e9)) {
      stream.push(read.chunk.toString());
      number = read.last;
    }
    const texts = [...shown, ...stream, ...(await Promise.all(bodies))];
    expect(texts.join("\n")).toContain("leaky");
    expect(texts.filter((text) => text.includes(planted))).toEqual([]);
    await page.close();
    stop();
    await listener.close();
  });
});
