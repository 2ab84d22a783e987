import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromiumProgram, openChromium } from "@fairlead/test-servers";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPage } from "../support/open-page.ts";
import { sampleConfirmation } from "../support/sample-confirmations.ts";

let browser: Browser;

let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("approval page");
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

/** A new window that shares nothing with other windows, and what happens in it. */
async function newWindow(options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on("pageerror", ({ message }) => complaints.push(message));
  // Chromium reports what the content security policy stopped as errors.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  return { context, page, requests, complaints, [Symbol.asyncDispose]: () => context.close() };
}

const title = (page: Page, text: string): Promise<void> =>
  page.getByRole("heading", { level: 1, name: text }).waitFor();

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("approval page");

describe.runIf(chromiumProgram !== undefined)("the approval page in Chromium", () => {
  test("a window that cannot reach the gateway shows the question after a reload", async () => {
    await using here = await openPage();
    await using first = await newWindow();
    const { page } = first;
    await page.route("**/visit", (route) => route.abort(), { times: 1 });
    await page.goto(here.url);
    await title(page, "Fairlead does not answer");
    await page.reload();
    await title(page, "Run files.write_file?");
  });

  test("the first window shows the question, survives a reload and answers; the address is clean", async () => {
    await using here = await openPage();
    await using first = await newWindow();
    const { page } = first;
    await page.goto(here.url);
    await title(page, "Run files.write_file?");
    const [address, code = ""] = here.url.split("#");
    expect(page.url()).toBe(address);
    await page.reload();
    await title(page, "Run files.write_file?");
    expect(await page.title()).toBe("Run files.write_file? – Fairlead");
    expect(await page.getByRole("region", { name: "Arguments" }).textContent()).toContain('"path": "a.txt"');
    expect(here.outcomes).toEqual([]);
    await page.getByRole("button", { name: "Yes, once", exact: true }).click();
    await title(page, "Answered");
    await here.running;
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
    expect(await page.getByRole("status").textContent()).toBe("Your answer: yes, once. You can close this page.");
    expect(first.requests.join("\n")).not.toContain(code);
    expect(await first.context.cookies()).toEqual([]);
    expect(first.complaints).toEqual([]);
    await page.reload();
    await title(page, "Not found");
  });

  test("a second window with the same address sees nothing, and the first one still answers", async () => {
    await using here = await openPage();
    await using first = await newWindow();
    await using second = await newWindow();
    await first.page.goto(here.url);
    await title(first.page, "Run files.write_file?");
    await second.page.goto(here.url);
    await title(second.page, "Open in another window");
    await second.page.reload();
    await title(second.page, "Open in another window");
    expect(await second.page.content()).not.toMatch(/write_file|a\.txt|claude-code/);
    expect(await second.page.getByRole("button").count()).toBe(0);
    await first.page.getByRole("button", { name: "No", exact: true }).click();
    await title(first.page, "Answered");
    await here.ended;
    expect(here.outcomes).toEqual([["cancel", "page"]]);
  });

  test("the keyboard is enough, and a key that was pressed early answers nothing", async () => {
    await using here = await openPage();
    await using window = await newWindow();
    const { page } = window;
    await page.goto(here.url);
    await title(page, "Run files.write_file?");
    // A screen reader reads the title first.
    expect(await focused(page)).toBe("Run files.write_file?");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toContain('"path": "a.txt"');
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("No");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Yes, once");
    expect(here.outcomes).toEqual([]);
    await page.keyboard.press("Enter");
    await title(page, "Answered");
    expect(await focused(page)).toBe("Answered");
    await here.running;
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  });

  test("without JavaScript the page names the command", async () => {
    await using here = await openPage();
    await using window = await newWindow({ javaScriptEnabled: false });
    await window.page.goto(here.url);
    const text = await window.page.locator("main").textContent();
    expect(text).toContain("This page needs JavaScript");
    expect(text).toContain("run: fairlead approvals");
    expect(text).not.toContain("Loading");
  });

  test("hostile text stays text", async () => {
    const hostile = `<script>alert(1)</script><img src="http://127.0.0.1:1/x" onerror="alert(1)"><style>*{display:none}</style>\u202E`;
    const change = [{ member: hostile, before: hostile, after: hostile }];
    await using here = await openPage(sampleConfirmation({ args: { [hostile]: hostile }, change }));
    await using window = await newWindow();
    await window.page.goto(here.url);
    await title(window.page, "Run files.write_file?");
    expect(await window.page.getByRole("table").textContent()).toContain("<script>alert(1)</script>");
    expect(await window.page.locator("main").textContent()).toContain("⟨U+202E⟩");
    expect(await window.page.locator("main script, main img, main style").count()).toBe(0);
    expect(new Set(window.requests.map((url) => new URL(url).origin))).toEqual(new Set([new URL(here.url).origin]));
    expect(window.complaints).toEqual([]);
  });

  test("a page of another site can neither read, answer nor frame the question", async () => {
    await using here = await openPage();
    await using foreign = await foreignSite();
    await using first = await newWindow();
    await first.page.goto(here.url);
    await title(first.page, "Run files.write_file?");
    const session = await first.page.evaluate("sessionStorage.getItem(location.pathname)");
    await using window = await newWindow();
    await window.page.goto(foreign.url);
    const path = here.url.replace(/#.*/, "");
    const attack = (step: string, init: object): Promise<unknown> =>
      window.page.evaluate(
        `fetch(${JSON.stringify(`${path}/${step}`)}, ${JSON.stringify({ method: "POST", body: "once", ...init })}).then((reply) => reply.type, () => "failed")`,
      );
    expect([
      await attack("answer", { mode: "no-cors" }),
      await attack("answer", {}),
      // Even with the stolen session.
      await attack("answer", { headers: { authorization: `Bearer ${String(session)}` } }),
      await attack("question", { headers: { authorization: `Bearer ${String(session)}` } }),
    ]).toEqual(["failed", "failed", "failed", "failed"]);
    await window.page.setContent(`<iframe src=${JSON.stringify(path)}></iframe>`);
    await expect(window.page.frameLocator("iframe").locator("main").count()).resolves.toBe(0);
    expect(here.outcomes).toEqual([]);
    await first.page.getByRole("button", { name: "Yes, once", exact: true }).click();
    await title(first.page, "Answered");
    await here.running;
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  });
});

function focused(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement.textContent");
}

/** Another web server on this machine. */
async function foreignSite() {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>foreign"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
