import { deferred, focusedName, tabTo } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { ServerRow } from "../../src/protocol/rows.ts";
import { go, hasChromium, useChromium } from "./support/console-window.ts";
import type { ScriptedSource } from "./support/scripted-source.ts";

const chromium = useChromium("console, live updates");

const rowOf = (page: Page, name: string) => page.locator(`tr[data-row='server ${name}']`);

/** Changes a server, for open pages and for those that connect later. */
function change(source: ScriptedSource, name: string, changes: Partial<ServerRow>): void {
  const servers = source.state.servers.map((row) => (row.name === name ? { ...row, ...changes } : row));
  source.state = { ...source.state, servers };
  const server = servers.find((row) => row.name === name);
  if (server !== undefined) source.emit({ type: "server", server });
}

const works: Partial<ServerRow> = {
  status: "connected",
  reason: undefined,
  cause: undefined,
  next: undefined,
  since: Date.now(),
};

describe.runIf(hasChromium)("live updates", () => {
  test("change a server's row, and count down to its next try", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    expect(await rowOf(page, "linear").textContent()).toMatch(/again in \d s/);
    change(source, "git", { status: "disconnected", reason: "server_exited", cause: "git exited with code 1" });
    await rowOf(page, "git").getByText("git exited with code 1").waitFor();
    expect(await rowOf(page, "git").textContent()).toContain("failed");
  });

  test("do not move rows under the pointer, and put them in order when it has left", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    const order = () =>
      page.locator("tr[data-row^='server ']").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-row")));
    await rowOf(page, "metrics").hover();
    const before = await order();
    change(source, "docs", works);
    await rowOf(page, "docs").getByText("connected").waitFor();
    expect(await order()).toEqual(before);
    await page.mouse.move(5, 5);
    await page.waitForFunction(() => document.querySelector(".need-table [data-row='server docs']") === null);
    expect(await order()).not.toEqual(before);
  });

  test("keep the focus in the row whose button disappears", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await page.getByRole("button", { name: "Try again: docs" }).focus();
    await page.keyboard.press("Enter");
    change(source, "docs", works);
    await page.getByRole("button", { name: "Try again: docs" }).waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.closest("tr")?.dataset["row"] === "server docs");
    expect(source.commands).toContainEqual(["servers/restart", { servers: ["docs"] }]);
  });

  test("keep the focus on the page when the focused server is gone", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await page.getByRole("link", { name: "docs", exact: true }).focus();
    source.emit({ type: "servers", servers: source.state.servers.filter(({ name }) => name !== "docs") });
    await rowOf(page, "docs").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement !== document.body);
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);
  });

  test("leave the focus where a person has put it while a view was still loading", async () => {
    await using here = await chromium.open();
    const { page } = here;
    // The first view keeps its focus; the next one, which an address leads to, takes it to its heading.
    await go(page, "#/history");
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    const asked = deferred<void>();
    const arrives = deferred<void>();
    await page.route("**/assets/budget-view*", async (route) => {
      asked.resolve();
      await arrives.promise;
      await route.continue();
    });
    await page.evaluate(() => {
      location.hash = "#/budget";
    });
    await asked.promise;
    await tabTo(page, "History");
    arrives.resolve();
    await page.getByRole("heading", { level: 1, name: "Budget" }).waitFor();
    expect(await focusedName(page)).toBe("History");
  });

  test("are read out: a question at once, what follows within two seconds together", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    const [first] = source.state.questions;
    if (first === undefined) throw new Error("the sample has questions");
    const region = page.getByRole("status").first();
    source.emit({ type: "question", question: { ...first, id: "q-new" } });
    await region.getByText("A question waits: Run files.write_file?", { exact: true }).waitFor({ state: "attached" });
    change(source, "git", { status: "disconnected", reason: "server_exited", cause: "git exited" });
    change(source, "memory", { status: "needs_auth", reason: "auth_required", cause: "no token" });
    await region.getByText("git: failed. memory: needs sign-in", { exact: true }).waitFor({ state: "attached" });
    expect(await region.getAttribute("aria-live")).toBe("polite");
  });

  test("draw nothing while the tab is hidden, except its title, and everything when it is shown", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const { page, source } = here;
    await page.clock.install();
    await setHidden(page, true);
    const drawn = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          new MutationObserver(() => resolve("drawn")).observe(document.querySelector("main") ?? document, {
            childList: true,
            subtree: true,
            characterData: true,
          });
          document.addEventListener("visibilitychange", () => resolve("shown"), { once: true, capture: true });
        }),
    );
    change(source, "git", { status: "disconnected", reason: "server_exited", cause: "git exited" });
    const [first] = source.state.questions;
    if (first === undefined) throw new Error("the sample has questions");
    source.emit({ type: "question", question: { ...first, id: "q-new" } });
    await page.waitForFunction(() => document.title.startsWith("(6)"));
    await page.clock.runFor(1000);
    await setHidden(page, false);
    expect(await drawn).toBe("shown");
    await rowOf(page, "git").getByText("git exited").waitFor();
  });
});

/** Tells the page that its tab is hidden, or shown. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

describe.runIf(hasChromium)("the connection", () => {
  test("that breaks is said, states look out of date, and what happened meanwhile arrives", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await page.context().setOffline(true);
    here.served.cut();
    await page.getByRole("alert").getByText("Not connected to fairlead").waitFor();
    await page.locator(".shell.is-stale").waitFor();
    change(source, "git", { status: "disconnected", reason: "server_exited", cause: "git exited" });
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try now", exact: true }).click();
    await rowOf(page, "git").getByText("git exited").waitFor();
    await page.locator(".shell:not(.is-stale)").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("that breaks often loses no event and repeats none", async () => {
    await using here = await chromium.open({ view: "#/servers/files/log" });
    const { page, source } = here;
    await page.getByRole("log").waitFor();
    let count = 0;
    const send = (): void => {
      for (let line = 0; line < 50; line += 1) {
        count += 1;
        source.emit({ type: "log", server: "files", at: Date.now(), line: `line-${count}.` });
      }
    };
    const shown = page.getByRole("log");
    for (let cut = 0; cut < 20; cut += 1) {
      send();
      here.served.cut();
      send();
      // The stream is there again before it is cut again.
      await shown.and(page.getByLabel(`Log of the server, ${400 + count} lines`)).waitFor();
    }
    source.emit({ type: "log", server: "files", at: Date.now(), line: "the end" });
    await page.getByRole("log").getByText("the end").waitFor();
    await page.getByRole("log", { name: `Log of the server, ${400 + count + 1} lines` }).waitFor();
    await page.getByRole("searchbox", { name: "Filter the log" }).fill("line-1.");
    await page.getByRole("log", { name: "Log of the server, 1 lines" }).waitFor();
    expect(here.complaints).toEqual([]);
  });

  test("is one for all tabs: eight that are shown all live and work, also when the one that reads it ends or is hidden", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const { source, served, context } = here;
    const pages = [here.page];
    while (pages.length < 8) {
      const page = await context.newPage();
      pages.push(page);
      await page.goto(served.address());
    }
    const work = async (tabs: readonly Page[]): Promise<void> => {
      const use = async (page: Page): Promise<void> => {
        await page.getByText("live", { exact: true }).first().waitFor();
        // What a tab requests is answered: a browser has six connections for all of them.
        await go(page, "#/history");
        await page.getByRole("row", { name: /files/ }).first().waitFor();
        await go(page, "#/servers");
      };
      await Promise.all(tabs.map(use));
      await served.untilStreams(1);
    };
    let count = 0;
    const news = async (tabs: readonly Page[]): Promise<void> => {
      count += 1;
      const cause = `git exited for the ${count}. time`;
      change(source, "git", { status: "disconnected", reason: "server_exited", cause });
      for (const page of tabs) await rowOf(page, "git").getByText(cause).waitFor();
    };
    expect(await Promise.all(pages.map((page) => page.evaluate(() => document.hidden)))).toEqual(
      pages.map(() => false),
    );
    await work(pages);
    await news(pages);
    const [first, second, ...others] = pages;
    if (first === undefined || second === undefined) throw new Error("the test has opened eight tabs");
    await first.close();
    await news([second, ...others]);
    await setHidden(second, true);
    await news(others);
    // A hidden tab keeps its title up to date, and shows the rest when it is shown.
    const [question] = source.state.questions;
    if (question === undefined) throw new Error("the sample has questions");
    source.emit({ type: "question", question: { ...question, id: "q-new" } });
    for (const page of [second, ...others]) await page.waitForFunction(() => document.title.startsWith("(6)"));
    await setHidden(second, false);
    await work([second, ...others]);
    await news([second, ...others]);
    await served.close();
    for (const page of [second, ...others]) {
      await page.getByRole("heading", { name: "This console was closed" }).waitFor();
      await page.close();
    }
    expect(here.complaints).toEqual([]);
  }, 120_000);

  test("of all tabs that breaks is said in all of them, and each can try again", async () => {
    await using here = await chromium.open();
    const { page, context, served, source } = here;
    const other = await context.newPage();
    await other.goto(served.address());
    await other.getByText("live", { exact: true }).first().waitFor();
    await served.untilStreams(1);
    await context.setOffline(true);
    served.cut();
    for (const tab of [page, other]) await tab.getByRole("alert").getByText("Not connected to fairlead").waitFor();
    change(source, "git", { status: "disconnected", reason: "server_exited", cause: "git exited" });
    await context.setOffline(false);
    await other.getByRole("button", { name: "Try now", exact: true }).click();
    for (const tab of [page, other]) {
      await rowOf(tab, "git").getByText("git exited").waitFor();
      await tab.locator(".shell:not(.is-stale)").waitFor();
    }
    await other.close();
  });

  test("that the console has closed leads to a page that says how to open it again", async () => {
    await using here = await chromium.open();
    await here.served.close();
    await here.page.getByRole("heading", { name: "This console was closed" }).waitFor();
    expect(await here.page.content()).toContain("fairlead console");
  });

  test("of a reloaded tab continues its session, and the code in the address is gone", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const { page } = here;
    expect(page.url()).toBe(`http://127.0.0.1:${here.served.port}/#/servers`);
    await page.reload();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.evaluate(() => [document.cookie, location.href.includes("k=")])).toEqual(["", false]);
    expect(here.requests.filter((url) => url.includes("k="))).toEqual([]);
    expect(await focusedName(page)).toBeDefined();
    expect(here.complaints).toEqual([]);
  });
});
