/** A server whose every text is hostile, in a console of a real host, in Chromium. */

import { calls, inTurn, openChromium, says, stdioServer, webServer } from "@fairlead/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../page/support/console-window.ts";
import { deceptions } from "../page/support/deceptions.ts";
import { openRealConsole } from "../page/support/real-console.ts";
import { allowAll } from "../state/scene.ts";

const subject = "a server with hostile texts in the console";

let browser: Browser | undefined;
beforeAll(async () => {
  browser = await openChromium(subject);
});
afterAll(() => browser?.close());
// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (!hasChromium) await openChromium(subject);

/** Shows a view, and waits until its data is there. */
async function go(page: Page, view: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, view);
  await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".loading"));
  await page.locator(".view").waitFor();
}

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("button", { name, exact: true }).first().click();

describe.runIf(hasChromium)("a server whose every text is hostile", () => {
  test("rule 11: runs and requests nothing in any view, and no text of it hides, reverses or moves another", async () => {
    await using outside = await webServer((_, response) => response.end());
    if (browser === undefined) throw new Error("Chromium is absent");
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const hostile = `\u202e<img src=${outside.origin}/model onerror=alert(9)>\u001b[2J [a](javascript:alert(1)) ![b](${outside.origin}/b)`;
    await using here = await openRealConsole(
      context,
      inTurn(calls("speak", { [hostile]: hostile }), says(`${hostile}\n\nThe last line.`)),
      "#/now",
      {
        servers: { bad: stdioServer("hostile-text", outside.origin) },
        rules: allowAll,
        fairlead: { audit: { arguments: true } },
      },
    );
    const { page, scene, complaints } = here;
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const { origin } = new URL(page.url());
    const found: string[] = [];
    const look = async (what: string): Promise<void> => {
      await page.waitForFunction(() => document.querySelector(".loading") === null);
      found.push(...(await page.evaluate(deceptions)).map((each) => `${what}: ${each}`));
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (beyond > 0) found.push(`${what}: ${beyond} pixels wider than the window`);
    };
    await scene.host.start({ servers: ["bad"] });
    await page.getByRole("row", { name: /bad/ }).getByText("connected").first().waitFor();
    for (const view of [
      "#/now",
      "#/inbox",
      "#/servers",
      "#/servers/bad",
      "#/servers/bad/log",
      "#/servers/bad/policy",
      "#/servers/bad/changes",
      "#/tools",
      "#/tools?search=long",
      "#/tools/bad",
      "#/resources",
      "#/prompts",
      "#/skills",
      "#/policy?server=bad&tool=speak",
      "#/changes",
      "#/budget",
    ]) {
      await go(page, view);
      await look(view);
    }
    await go(page, "#/servers/bad/test");
    await press(page, "Run the test");
    await page.locator(".test-steps").waitFor();
    await look("a test");

    await go(page, "#/tools/bad/speak");
    await look("a form");
    for (const tab of ["JSON", "Schema", "Form"]) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await look(`the tab ${tab}`);
    }
    await press(page, "Call");
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("tab", { name: "Structured" }).waitFor();
    await look("a result");
    for (const formatted of await page.getByRole("button", { name: "Formatted" }).all()) {
      await formatted.click();
      await look("Markdown of a result");
    }
    for (const tab of ["Structured", "Raw", "Traffic"]) {
      await result.getByRole("tab", { name: tab, exact: true }).click();
      await look(`the tab ${tab}`);
    }
    await go(page, "#/tools/bad/fail");
    await press(page, "Call");
    await result.getByText("failed", { exact: false }).first().waitFor();
    await look("an error");
    await go(page, "#/tools/bad/ask");
    await press(page, "Call");
    await page.locator(".decision-ready").waitFor();
    await look("a question");
    await go(page, "#/inbox");
    await page.getByRole("article").waitFor();
    await look("the inbox");
    await press(page, /^No/);

    await go(page, "#/resources/bad?uri=hostile%3A%2F%2Fa%2Fb");
    await press(page, "Read");
    await page.getByRole("tab", { name: "Raw" }).waitFor();
    await look("a resource");
    await go(page, "#/prompts/bad/greet");
    await look("a prompt");
    await press(page, "Get");
    await page.getByRole("tab", { name: "Raw" }).waitFor();
    await look("the messages of a prompt");
    await go(page, "#/skills?server=bad&uri=skill%3A%2F%2Facme%2Fbad%2FSKILL.md");
    await look("a skill");

    await go(page, "#/traffic");
    await look("the traffic");
    for (const name of [/response/, /error/, /notification/]) {
      const row = page.getByRole("log").getByRole("link", { name }).last();
      if ((await row.count()) === 0) continue;
      await row.click();
      await page.getByRole("complementary", { name: "Message" }).waitFor();
      await look("a message");
      await page.getByRole("tab", { name: "Text" }).click();
      await look("a message as text");
    }
    await go(page, "#/history");
    await look("the history");
    await page.getByRole("link", { name: /speak/ }).first().click();
    await page.getByRole("complementary", { name: "Request" }).waitFor();
    await look("an entry of the history");

    await go(page, "#/conversations/new");
    await page.getByRole("textbox", { name: "Message" }).fill("Speak.");
    await page.keyboard.press("Enter");
    await page.getByText("The last line.").waitFor();
    for (const card of await page.locator(".conversation details > summary").all()) await card.click();
    await look("a conversation");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("long");
    await look("the search");

    expect(found).toEqual([]);
    expect(dialogs).toEqual([]);
    // While Markdown is cleaned, the browser reports the handlers that it does not run.
    expect(complaints.filter((each) => !each.startsWith("Executing inline event handler violates"))).toEqual([]);
    expect(outside.seen).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("blob:"))).toEqual([]);
  }, 120_000);
});
