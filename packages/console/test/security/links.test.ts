/** What the page opens in the browser, and what texts of servers cannot make it open, with real servers. */

import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { axeViolations, go, hasChromium, useChromium } from "../page/support/console-window.ts";
import { allowAll, consoleScene, ofType } from "../state/scene.ts";

const chromium = useChromium("links of the console");

/** A server whose tool `read` returns a result. */
async function resultScene(result: object) {
  const folder = await temporaryFolder();
  await folder.write("results.json", { read: result });
  const servers = { evil: stdioServer("results", join(folder.path, "results.json")) };
  const scene = await consoleScene({ servers, rules: allowAll });
  await scene.host.start({ servers: ["evil"] });
  return {
    scene,
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const text = (words: string) => ({ content: [{ type: "text", text: words }] });

/** Calls the tool of `resultScene`, and shows its result as formatted text. */
async function readFormatted(page: Page): Promise<void> {
  await go(page, "#/tools/evil/read");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("button", { name: "Formatted" }).click();
  await page.locator(".markdown").getByText("the end").waitFor();
}

const payloads = [
  "![a](http://127.0.0.1:9/tracked.png)",
  "<img src=http://127.0.0.1:9/a onerror=alert(1)>",
  "<script>alert(1)</script>",
  "<svg><script>alert(1)</script><image href=http://127.0.0.1:9/b></svg>",
  "<iframe src=http://127.0.0.1:9/c></iframe>",
  "<form action=http://127.0.0.1:9/d><input type=password name=p></form>",
  '<div style="position:fixed;inset:0;background:url(http://127.0.0.1:9/e)">over everything</div>',
  "<style>@import url(http://127.0.0.1:9/f)</style>",
  "<link rel=stylesheet href=http://127.0.0.1:9/g>",
  "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/h'>",
  '<a id=content name=content href="javascript:alert(1)">odd</a>',
  "[data](data:text/html,<script>alert(1)</script>)",
  "<video src=http://127.0.0.1:9/i autoplay></video>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
];

describe.runIf(hasChromium)("in Chromium", () => {
  test("rule 12: markdown of a server requests nothing, runs nothing, covers nothing and has no image", async () => {
    await using here = await resultScene(text(`# Title\n\n${payloads.join("\n\n")}\n\nthe end`));
    await using shown = await chromium.open({ source: here.scene.state });
    const { page, served } = shown;
    await readFormatted(page);
    const markdown = page.locator(".markdown");
    const harmful =
      "img, svg, math, script, style, link, meta, form, input, iframe, video, [style], [id], [name], [onerror]";
    expect(await markdown.locator(harmful).count()).toBe(0);
    expect(await markdown.locator("a[href]").count()).toBe(0);
    expect(shown.requests.filter((url) => !url.startsWith(`http://127.0.0.1:${served.port}/`))).toEqual([]);
    // While the text is read, the page's policy reports what it stops.
    expect(shown.complaints.filter((line) => !/content security policy/i.test(line))).toEqual([]);
    expect(await page.evaluate(() => document.elementFromPoint(20, 20)?.closest(".markdown") ?? null)).toBeNull();
  });

  test("texts that would hold up a parser of Markdown are shown as they are", async () => {
    const texts = ["**a*".repeat(40_000), "[".repeat(100_000), "`a".repeat(80_000), "- a\n".repeat(40_000)];
    const content = texts.map((words) => ({
      type: "resource",
      resource: { uri: "a://b", mimeType: "text/markdown", text: words },
    }));
    await using here = await resultScene({ content: [...content, { type: "text", text: "[".repeat(1_000_000) }] });
    await using shown = await chromium.open({ source: here.scene.state });
    const { page } = shown;
    await go(page, "#/tools/evil/read");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const buttons = page.getByRole("button", { name: "Formatted" });
    await buttons.first().waitFor();
    for (const button of await buttons.all()) await button.click();
    await expect.poll(() => page.getByText("Not formatted: it would hold up the page.").count()).toBe(texts.length);
    // The page still answers.
    await go(page, "#/now");
    await page.getByRole("row", { name: /evil/ }).first().waitFor();
  });

  test("rule 14: an image of a result is an image: no script of it runs, and it requests nothing", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>alert(1); document.title = "taken"</script>
<image href="http://127.0.0.1:9/a.png" width="9" height="9"/><rect width="40" height="30" onload="alert(2)"/></svg>`;
    const image = (mimeType: string, data: string) => ({
      type: "image",
      mimeType,
      data: Buffer.from(data).toString("base64"),
    });
    const html = image("text/html", "<script>alert(3)</script>");
    await using here = await resultScene({
      content: [image("image/svg+xml", svg), html, image("image/png", "no image at all"), ...text("the end").content],
    });
    await using shown = await chromium.open({ source: here.scene.state });
    const { page } = shown;
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await go(page, "#/tools/evil/read");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("the end").waitFor();
    const picture = page.locator("img.block-image");
    await page.getByText("The bytes are no image of this type.").waitFor();
    expect(
      await picture.evaluateAll((all) =>
        all.map((each) => [(each as HTMLImageElement).src.slice(0, 5), (each as HTMLImageElement).naturalWidth]),
      ),
    ).toEqual([["blob:", 40]]);
    expect(await page.locator("svg image, svg script, iframe, object, embed").count()).toBe(0);
    expect([dialogs, await page.title()]).toEqual([[], expect.not.stringContaining("taken")]);
    expect(
      shown.requests.filter((url) => !/^(?:blob:)?http:\/\/127\.0\.0\.1:\d+\//.test(url) || url.includes(":9/")),
    ).toEqual([]);
  });

  test("rule 13: a link opens the address that it says, and asks before it opens another one", async () => {
    const links = [
      "[https://bank.example/](https://evil.example/a)",
      "<https://plain.example/>",
      "[user](https://bank.example@evil.example/)",
      "[mail](mailto:a@evil.example)",
      "[file](file:///etc/passwd)",
      "the end",
    ];
    await using here = await resultScene(text(`# Title\n\n${links.join("\n\n")}`));
    await using shown = await chromium.open({ source: here.scene.state });
    const { page, context } = shown;
    await context.route(/\.example\//, (route) => route.fulfill({ contentType: "text/html", body: "opened" }));
    const opened: string[] = [];
    context.on("page", (tab) => opened.push(tab.url()));
    await readFormatted(page);
    const addresses = await page
      .locator(".markdown a[href]")
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    expect(addresses).toEqual(["https://evil.example/a", "https://plain.example/"]);
    const misleading = page.getByRole("link", { name: "https://bank.example/" });
    for (const button of ["left", "middle"] as const) {
      await misleading.click({ button });
      const dialog = page.getByRole("dialog", { name: "Open evil.example?" });
      await dialog.getByText("https://evil.example/a").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(opened).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
    await misleading.press("Enter");
    const asked = page.getByRole("button", { name: "Open it" });
    for (const press of [
      () => asked.click(),
      () => page.getByRole("link", { name: "https://plain.example/" }).click(),
    ]) {
      const [tab] = await Promise.all([context.waitForEvent("page"), press()]);
      await tab.getByText("opened").waitFor();
      expect(await tab.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
      await tab.close();
    }
    expect(opened).toHaveLength(2);
  });

  test.each([
    ["http://pay.example/", undefined],
    ["https://bank.example@evil.example/", "refused"],
    ["https://b\u0000ank.example/", "refused"],
    ["javascript:alert(1)", "refused"],
    ["file:///etc/passwd", "refused"],
    ["https://pay.example/a?b=`c`&d='", "https://pay.example/a?b=%60c%60&d=%27"],
    ["http://127.0.0.1:9/a", "http://127.0.0.1:9/a"],
  ])("rule 20: the address %j that a server asks to open passes Fairlead's rules first", async (url, opens) => {
    await using scene = await consoleScene({ servers: { shop: stdioServer("asks") }, rules: allowAll });
    await scene.run("calls/tool", { call: "c", server: "shop", tool: "order", args: { how: "url", url } });
    if (opens === "refused") {
      // The question does not even reach the person.
      const { call } = await scene.event(ofType("call", (event) => event.call.endedAt !== undefined));
      expect(call.state).toBe("ok");
      expect(JSON.stringify(await scene.run("calls/result", { call: "c" }))).toContain("decline");
      expect(scene.events.some(({ type }) => type === "question")).toBe(false);
      return;
    }
    const { question } = await scene.event(ofType("question"));
    await using shown = await chromium.open({ source: scene.state, view: `#/inbox/${question.id}` });
    const { page, context } = shown;
    await page.locator(".decision-ready").waitFor();
    const button = page.getByRole("button", { name: /^Open/ });
    if (opens === undefined) {
      expect(await button.count()).toBe(0);
      await page.getByText("Fairlead does not open this address").waitFor();
      await expect(
        scene.run("questions/answer", { id: question.id, answer: { kind: "address", action: "accept" } }),
      ).rejects.toMatchObject({ code: "usage" });
      await page.getByRole("button", { name: "No, do not open it" }).click();
      await page.getByRole("heading", { name: "Answered" }).waitFor();
      return;
    }
    const asked: string[] = [];
    await context.route(/pay\.example|127\.0\.0\.1:9\//, (route) => {
      asked.push(route.request().url());
      return route.fulfill({ contentType: "text/html", body: "opened" });
    });
    const [tab] = await Promise.all([context.waitForEvent("page"), button.click()]);
    await tab.getByText("opened").waitFor();
    expect(asked).toEqual([opens]);
    expect(await tab.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
    await page.getByRole("heading", { name: "Answered" }).waitFor();
  });
});
