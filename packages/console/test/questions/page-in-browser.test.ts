/** The page of one question in Chromium: what a person sees, and what other windows and sites cannot see or do. */

import type { ToolCallConfirmationDetails } from "@fairlead/core/policy/confirmation";
import { chromiumProgram, openChromium, until, webServer } from "@fairlead/test-servers";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askingGateway } from "../support/asked-question.ts";

let browser: Browser;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("page of one question");
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

const outcome = (page: Page, text: string): Promise<void> =>
  page.getByRole("status").getByRole("heading", { level: 2, name: text }).waitFor();

/** Presses a button after the time in which buttons do nothing. */
async function press(page: Page, name: string): Promise<void> {
  // Playwright waits until the button is enabled.
  await page.getByRole("button", { name, exact: true }).click();
}

async function openQuestion(details: Partial<ToolCallConfirmationDetails> = {}) {
  const gateway = await askingGateway();
  return {
    ...gateway,
    ...(await gateway.ask(details)),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("page of one question");

describe.runIf(chromiumProgram !== undefined)("in Chromium", () => {
  test("a window that cannot reach the gateway shows the question after a reload", async () => {
    await using here = await openQuestion();
    await using first = await newWindow();
    const { page } = first;
    await page.route("**/api/session", (route) => route.abort(), { times: 1 });
    await page.goto(here.place);
    await title(page, "Fairlead does not answer");
    await page.reload();
    await title(page, "Run files.write_file?");
  });

  test("the first window shows the question, survives a reload and answers; the address is clean", async () => {
    await using here = await openQuestion();
    await using first = await newWindow();
    const { page } = first;
    await page.goto(here.place);
    await title(page, "Run files.write_file?");
    const [address, code = ""] = here.place.split("#k=");
    expect(page.url()).toBe(address);
    await page.reload();
    await title(page, "Run files.write_file?");
    expect(await page.title()).toContain("Run files.write_file?");
    expect(await page.getByRole("group", { name: "Exact arguments" }).textContent()).toContain("a.txt");
    expect(await page.locator("main").textContent()).toContain("rule 1 of fairlead.toml");
    expect(here.outcomes).toEqual([]);
    await press(page, "Yes, once");
    await outcome(page, "Answered");
    expect(await here.ended).toBe("yes");
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
    await page.getByText("Your answer: yes, once. You can close this page.").waitFor();
    expect(await page.getByRole("button", { name: /^Yes|^No/ }).count()).toBe(0);
    expect(first.requests.join("\n")).not.toContain(code);
    expect(await first.context.cookies()).toEqual([]);
    expect(first.complaints).toEqual([]);
    await page.reload();
    await page.getByText("fairlead approvals").first().waitFor();
    expect(await page.content()).not.toMatch(/write_file|a\.txt/);
  });

  test("a second window with the same address sees nothing, and the first one still answers", async () => {
    await using here = await openQuestion();
    await using first = await newWindow();
    await using second = await newWindow();
    await first.page.goto(here.place);
    await title(first.page, "Run files.write_file?");
    await second.page.goto(here.place);
    await second.page.getByText("Only the window that opened this question first").waitFor();
    await second.page.reload();
    await second.page.getByText("fairlead approvals").first().waitFor();
    expect(await second.page.content()).not.toMatch(/write_file|a\.txt|claude-code/);
    expect(await second.page.getByRole("button", { name: /^Yes|^No/ }).count()).toBe(0);
    await press(first.page, "No");
    await outcome(first.page, "Answered");
    expect(await here.ended).toContain("denied");
    expect(here.outcomes).toEqual([["cancel", "page"]]);
  });

  test("the keyboard is enough; Enter answers nothing, and neither does a key that was pressed early", async () => {
    await using here = await openQuestion();
    await using window = await newWindow();
    const { page } = window;
    await page.goto(here.place);
    await title(page, "Run files.write_file?");
    // A screen reader reads the title first.
    expect(await focused(page)).toBe("Run files.write_file?");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    const texts: unknown[] = [];
    while (texts.at(-1) !== "Yes, once" && texts.length < 30) {
      await page.keyboard.press("Tab");
      texts.push(await focused(page));
    }
    expect(texts).toContain("No");
    await page.getByRole("button", { name: "Yes, once", exact: true, disabled: false }).waitFor();
    await page.keyboard.press("Enter");
    expect(here.outcomes).toEqual([]);
    await page.keyboard.press("Space");
    await outcome(page, "Answered");
    expect(await here.ended).toBe("yes");
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  });

  test("a double click where the button appears answers nothing in the first half second", async () => {
    await using here = await openQuestion();
    await using window = await newWindow();
    const { clock } = window.page;
    await clock.install({ time: 0 });
    // The page's time passes in small steps until the button is there, and then stands still.
    await clock.pauseAt(1000);
    await window.page.goto(here.place);
    const shown = window.page.getByRole("heading", { level: 1, name: "Run files.write_file?" });
    await until(async () => {
      await clock.runFor(20);
      return shown.isVisible();
    });
    const button = window.page.getByRole("button", { name: "Yes, once", exact: true });
    const box = await button.boundingBox();
    await window.page.mouse.dblclick((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
    expect(here.outcomes).toEqual([]);
    await clock.resume();
    await press(window.page, "Yes, once");
    expect(await here.ended).toBe("yes");
  });

  test("without JavaScript the page names the command", async () => {
    await using here = await openQuestion();
    await using window = await newWindow({ javaScriptEnabled: false });
    await window.page.goto(here.place);
    const text = await window.page.locator("main").textContent();
    expect(text).toContain("This page needs JavaScript");
    expect(text).toContain("run: fairlead approvals");
  });

  test("hostile text stays text", async () => {
    const hostile = `<script>alert(1)</script><img src="http://127.0.0.1:1/x" onerror="alert(1)"><style>*{display:none}</style>\u202E`;
    const change = [{ member: hostile, before: hostile, after: hostile }];
    await using here = await openQuestion({ args: { [hostile]: hostile }, change });
    await using window = await newWindow();
    const { page } = window;
    await page.goto(here.place);
    await title(page, "Run files.write_file?");
    const text = await page.locator("main").textContent();
    expect(text).toContain("The definition has changed");
    expect(text).toContain("<script>alert(1)</script>");
    expect(text).toContain("U+202E");
    expect(text).not.toContain("\u202E");
    expect(await page.locator("main script, main img, main style").count()).toBe(0);
    // A rule for all later calls is not offered for a definition that is not accepted yet.
    expect(await page.getByRole("button", { name: /always/ }).count()).toBe(0);
    expect(new Set(window.requests.map((url) => new URL(url).origin))).toEqual(new Set([new URL(here.place).origin]));
    expect(window.complaints).toEqual([]);
  });

  test("a page of another site can neither read, answer nor frame the question", async () => {
    await using here = await openQuestion();
    await using foreign = await webServer((_, response) => response.setHeader("content-type", "text/html").end("<p>"));
    await using first = await newWindow();
    await first.page.goto(here.place);
    await title(first.page, "Run files.write_file?");
    const stored = await first.page.evaluate("JSON.stringify(Object.values(sessionStorage))");
    const [, bearer = ""] = /"bearer[^:]*:[^\w-]*([\w-]{43})/.exec(String(stored)) ?? [];
    expect(bearer).not.toBe("");
    await using window = await newWindow();
    await window.page.goto(foreign.origin);
    const { origin, pathname } = new URL(here.place);
    const id = pathname.replace("/question/", "");
    const attack = (path: string, init: object): Promise<unknown> =>
      window.page.evaluate(
        `fetch(${JSON.stringify(origin + path)}, ${JSON.stringify(init)}).then((reply) => reply.type, () => "failed")`,
      );
    const body = JSON.stringify({ id, answer: { kind: "request", choice: "once" } });
    // Even with the stolen session.
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json", "idempotency-key": "a" };
    expect([
      await attack("/api/questions/answer", { method: "POST", body, mode: "no-cors" }),
      await attack("/api/questions/answer", { method: "POST", body }),
      await attack("/api/questions/answer", { method: "POST", body, headers }),
      await attack("/api/events", { headers }),
    ]).toEqual(["failed", "failed", "failed", "failed"]);
    await window.page.setContent(`<iframe src=${JSON.stringify(origin + pathname)}></iframe>`);
    await expect(window.page.frameLocator("iframe").locator("main").count()).resolves.toBe(0);
    expect(here.outcomes).toEqual([]);
    await press(first.page, "Yes, once");
    await outcome(first.page, "Answered");
    expect(await here.ended).toBe("yes");
    expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  });

  test("an answer in a terminal ends the page's buttons, and the page says who answered", async () => {
    await using here = await openQuestion();
    await using window = await newWindow();
    await window.page.goto(here.place);
    await title(window.page, "Run files.write_file?");
    const [entry] = await here.inbox.list();
    await here.inbox.answer(entry?.id ?? "", "no", "fairlead approvals");
    await outcome(window.page, "Answered in fairlead approvals");
    expect(await window.page.getByRole("button", { name: /^Yes|^No/ }).count()).toBe(0);
    expect(await here.ended).toContain("denied");
    expect(here.outcomes).toEqual([["cancel", "inbox"]]);
  });

  test("a question that the program has taken back is answered by nobody, and the page says so", async () => {
    await using here = await openQuestion();
    await using window = await newWindow();
    await window.page.goto(here.place);
    await title(window.page, "Run files.write_file?");
    here.cancel();
    expect(await here.ended).toContain("cancelled");
    await window.page.getByText("The program no longer waits for this answer.").waitFor();
    await press(window.page, "Yes, once");
    await window.page.getByText("This question has expired: the program no longer waits").waitFor();
    expect(here.outcomes).toEqual([]);
  });
});

function focused(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement.textContent");
}
