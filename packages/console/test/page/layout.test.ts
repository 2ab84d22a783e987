import { describe, expect, test } from "vitest";
import { go, hasChromium, useChromium } from "./support/console-window.ts";
import { requestQuestion } from "./support/sample-questions.ts";
import { rulesSource } from "./support/sample-rules.ts";
import { sampleServers } from "./support/sample-servers.ts";
import { sampleSource } from "./support/sample-state.ts";

const chromium = useChromium("console, layout");

describe.runIf(hasChromium)("the page", () => {
  test("shows twenty servers, the ten broken ones with their whole cause, at 1280 × 800 without scrolling", async () => {
    const now = Date.now();
    const source = sampleSource(now);
    source.state = { ...source.state, questions: [requestQuestion(now)] };
    await using here = await chromium.open({ source });
    const { page } = here;
    const rows = page.locator(".server-table tbody tr[data-row^='server ']");
    expect(await rows.count()).toBe(20);
    const outside = await rows.evaluateAll((elements) =>
      elements
        .filter((row) => row.getBoundingClientRect().bottom > innerHeight)
        .map((row) => row.getAttribute("data-row")),
    );
    expect(outside).toEqual([]);
    for (const { name, cause = "" } of sampleServers(now).filter((row) => row.cause !== undefined)) {
      const cell = page.locator(`tr[data-row='server ${name}'] .cell-cause .cut`);
      // The name of the server stands beside its cause.
      expect(await cell.textContent()).toBe(cause.replace(/^(?:server )?"[^"]*"(?: \([^)]*\))?:? /, ""));
      expect(await cell.getAttribute("title")).toBe(cause);
    }
    expect(await rows.first().evaluate((row) => row.getBoundingClientRect().height)).toBeLessThanOrEqual(28);
  });

  test("whose view meets a mistake of its own says so there, and the other views work", async () => {
    const source = rulesSource();
    const right = source.handlers["budget/show"];
    source.handlers["budget/show"] = () => ({ servers: [null] }) as never;
    await using here = await chromium.open({ source });
    const { page } = here;
    await go(page, "#/budget");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Budget" }).waitFor();
    await go(page, "#/policy");
    await page.getByRole("button", { name: "New rule" }).waitFor();
    if (right !== undefined) source.handlers["budget/show"] = right;
    await go(page, "#/budget");
    await page.getByText("The definitions of all tools").waitFor();
  });

  test("says nothing about servers before it has heard of them", async () => {
    const source = sampleSource();
    const tell = source.hold();
    await using here = await chromium.open({ source, isWaiting: true });
    const { page } = here;
    await page.getByText("connecting").waitFor();
    expect(await page.locator("main").textContent()).not.toMatch(/no server|nothing|\b0\b/i);
    tell();
    await page.getByText("live", { exact: true }).waitFor();
  });

  test("shows an unknown figure as a dash, and a figure from the cache as known", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const row = here.page.getByRole("row", { name: /jira/ });
    expect(await row.getByText("31 tools (cached)").count()).toBe(1);
    expect(await row.locator(".cell-median").textContent()).toBe("–");
  });

  test("sorts servers by a column, with the unknown last, and has the order in the address", async () => {
    await using here = await chromium.open({ view: "#/servers" });
    const { page } = here;
    const order = () =>
      page
        .locator("tr[data-row^='server ']")
        .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-row")?.slice(7)));
    const byNeed = await order();
    await page.getByRole("button", { name: "Tokens" }).click();
    await page.waitForFunction(() => location.hash === "#/servers?sort=-tokens");
    await page.locator("th[aria-sort=descending]").getByText("Tokens").waitFor();
    expect((await order()).slice(0, 3)).toEqual(["jira", "browser", "db"]);
    await page.getByRole("button", { name: "Tokens" }).click();
    await page.locator("th[aria-sort=ascending]").getByText("Tokens").waitFor();
    expect((await order()).slice(0, 2)).toEqual(["time", "sequential-thinking"]);
    await page.getByRole("button", { name: "Tokens" }).click();
    await page.waitForFunction(() => location.hash === "#/servers");
    expect(await order()).toEqual(byNeed);
  });

  test("puts the number of open questions into the title", async () => {
    const source = sampleSource();
    await using here = await chromium.open({ source, view: "#/servers" });
    const { page } = here;
    await page.waitForFunction(() => document.title === "(5) Servers – fairlead");
    for (const { id } of source.state.questions) source.emit({ type: "answered", id, by: "the app", answer: "no" });
    await page.waitForFunction(() => document.title === "Servers – fairlead");
  });
});
