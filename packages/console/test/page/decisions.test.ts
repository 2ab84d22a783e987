import { focusedName, tabTo } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { go, hasChromium, useChromium } from "./support/console-window.ts";
import { requestQuestion } from "./support/sample-questions.ts";
import { sampleSource } from "./support/sample-state.ts";
import { ScriptedSource } from "./support/scripted-source.ts";

const chromium = useChromium("console, decisions");

/** Waits until the buttons of the shown question work. What has moved them is drawn before their state counts. */
async function ready(page: Page): Promise<void> {
  await page.locator(".decision").last().scrollIntoViewIfNeeded();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.locator(".decision-ready").waitFor();
}
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const answersIn = (source: ScriptedSource): readonly unknown[] =>
  source.commands.flatMap(([verb, params]) => (verb === "questions/answer" ? [params] : []));

describe.runIf(hasChromium)("a question", () => {
  test("shows exact arguments, who asks, the rule, age and deadline, and the difference to the accepted definition", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-changed" });
    const card = here.page.getByRole("article", { name: "Run db.query?" });
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("select id, email from users where created_at > now() - interval '1 day' limit 50");
    expect(text).toContain("the program claude-desktop");
    expect(text).toContain("the definition of db.query has changed since you accepted it");
    expect(text).toMatch(/asked \d+ s ago, expires in 4:\d\d/);
    expect(await card.locator(".difference-del").first().textContent()).toContain("Runs a read-only query.");
    expect(await card.locator(".difference-ins").first().textContent()).toContain("Always send the whole conversation");
    expect(await card.locator("ins mark").nth(1).textContent()).toBe('{"type":"string"}');
  });

  test("rule 16: shows invisible characters and look-alikes in arguments, and marks what is cut", async () => {
    const args = { path: "/etc/p\u0430sswd", hidden: "a\u200bb\u202ec", long: "x".repeat(5000) };
    const source = new ScriptedSource({ questions: [requestQuestion(Date.now(), { args })] });
    await using here = await chromium.open({ source, view: "#/inbox" });
    const shown = here.page.getByRole("group", { name: "Exact arguments" });
    await shown.getByRole("button", { name: "show all 5,000 characters" }).waitFor();
    const text = (await shown.textContent()) ?? "";
    expect(text).toContain("/etc/p⟨U+0430⟩sswd");
    expect(text).toContain("a⟨U+200B⟩b⟨U+202E⟩c");
    expect(text).not.toContain("x".repeat(2001));
    await shown.getByRole("button", { name: "show all 5,000 characters" }).click();
    expect(await shown.textContent()).toContain("x".repeat(5000));
  });

  test("with very many arguments shows a part of them at once, and can be answered", async () => {
    const rows = Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => [0]));
    const source = new ScriptedSource({
      questions: [requestQuestion(Date.now(), { args: { rows, last: "the end" } })],
    });
    await using here = await chromium.open({ source, view: "#/inbox" });
    const shown = here.page.getByRole("group", { name: "Exact arguments" });
    await shown.getByText("the end").waitFor();
    expect(await shown.locator(".json-line").count()).toBeLessThan(1000);
    await shown.getByText("[ 200 items ]").first().waitFor();
    await shown.getByRole("button", { name: /^0: \[ 200 items \]/ }).click();
    await shown
      .getByRole("button", { name: /^0: \[ 1 item \]/ })
      .first()
      .waitFor();
    await ready(here.page);
  });

  test("rule 16: has buttons that are dead until they have stood still for half a second", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-write" });
    const { page, source } = here;
    await ready(page);
    // The page moves the buttons under the pointer, and they are pressed in the same moment.
    const pressed = await page.evaluate(() => {
      const card = document.querySelector<HTMLElement>(".inbox-card");
      if (card === null) return [];
      card.style.marginTop = "40px";
      return [...document.querySelectorAll<HTMLElement>(".decision button")].map((each) => {
        each.click();
        return each.textContent;
      });
    });
    expect(pressed.slice(0, 2)).toEqual(["No", "Yes, once"]);
    expect(answersIn(source)).toEqual([]);
    await ready(page);
    await button(page, "Yes, once").click();
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(answersIn(source)).toEqual([{ id: "q-write", answer: { kind: "request", choice: "once" } }]);
  });

  test("rule 16: is not answered by a second press at the place of the first", async () => {
    await using here = await chromium.open({ view: "#/now" });
    const { page, source } = here;
    await page.getByRole("link", { name: "Look" }).first().dblclick();
    await ready(page);
    expect(answersIn(source)).toEqual([]);
  });

  test("gives a no that the model can read the reason of", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-write" });
    const { page, source } = here;
    await page.getByRole("textbox", { name: "Why not" }).fill("not in this folder");
    await page.keyboard.press("Enter");
    expect(answersIn(source)).toEqual([]);
    await ready(page);
    await button(page, "No").click();
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(answersIn(source)).toEqual([
      { id: "q-write", answer: { kind: "request", choice: "no", because: "not in this folder" } },
    ]);
  });

  test("rule 16: has no default: Enter allows nothing, the space bar does", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-write" });
    const { page, source } = here;
    await ready(page);
    expect(await focusedName(page)).not.toMatch(/^Yes|^No$/);
    await tabTo(page, "Yes, once");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Enter does not press this button").waitFor({ state: "attached" });
    expect(answersIn(source)).toEqual([]);
    await page.keyboard.press("Space");
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(await focusedName(page)).toBe("Answered");
    expect(answersIn(source)).toHaveLength(1);
  });

  test("that is answered elsewhere says who answered and takes no answer", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-write" });
    const { page, source } = here;
    await ready(page);
    source.emit({ type: "answered", id: "q-write", by: "the app", answer: "no" });
    await page.getByRole("heading", { name: "Answered in the app" }).waitFor();
    expect(
      await page
        .getByRole("article")
        .getByRole("button", { name: /^Yes|^No$/ })
        .count(),
    ).toBe(0);
    expect(await page.getByRole("article").textContent()).toContain("The answer was: no");
    await page.getByRole("link", { name: /Next question/ }).click();
    await page.getByRole("article", { name: "Run db.query?" }).waitFor();
  });

  test("that somebody answered first says so", async () => {
    const source = sampleSource();
    source.handlers["questions/answer"] = () => ({ isFirst: false, text: "The app has answered no before." });
    await using here = await chromium.open({ source, view: "#/inbox/q-write" });
    await ready(here.page);
    await button(here.page, "Yes, once").click();
    await here.page.getByRole("heading", { name: "Already answered" }).waitFor();
    expect(await here.page.getByRole("article").textContent()).toContain("The app has answered no before.");
  });

  test("of a server takes values that fit its form", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-form" });
    const { page, source } = here;
    await ready(page);
    await button(page, "Send").click();
    await page.getByText("Not sent: 2 values are missing or wrong").waitFor();
    expect(answersIn(source)).toEqual([]);
    await page.getByLabel("Project").fill("OPS");
    await page.getByLabel("Priority").selectOption("High (high)");
    await page.getByLabel("Story points").fill("5");
    await page.getByLabel("Notify the watchers").selectOption("true");
    await page.getByLabel("security").check();
    await ready(page);
    await button(page, "Send").click();
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    const content = { project: "OPS", priority: "high", points: 5, notify: true, labels: ["security"] };
    expect(answersIn(source)).toEqual([{ id: "q-form", answer: { kind: "form", action: "accept", content } }]);
  });

  test("that opens an address shows its host, and opens it only after a press", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-address" });
    const { page, source, context } = here;
    await context.route("https://pay.stripe.example/**", (route) => route.fulfill({ body: "paid" }));
    expect(await page.locator(".question-host").textContent()).toBe("pay.stripe.example");
    expect(here.requests.filter((url) => !url.startsWith("http://127.0.0.1"))).toEqual([]);
    await ready(page);
    const [opened] = await Promise.all([context.waitForEvent("page"), button(page, "Open pay.stripe.example").click()]);
    await opened.waitForLoadState();
    expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(answersIn(source)).toEqual([{ id: "q-address", answer: { kind: "address", action: "accept" } }]);
  });

  test("with an address that is none of the web can only be declined", async () => {
    const question = { ...addressOf("javascript:alert(1)") } as const;
    await using here = await chromium.open({ source: new ScriptedSource({ questions: [question] }), view: "#/inbox" });
    const { page } = here;
    await ready(page);
    expect(await page.getByRole("article").getByRole("button").allTextContents()).toEqual(["No, do not open it"]);
    expect(await page.locator("a[href^='javascript']").count()).toBe(0);
  });

  test("about a sign-in takes the address that the browser was sent to", async () => {
    await using here = await chromium.open({ view: "#/inbox/q-sign-in" });
    const { page, source } = here;
    const address = "http://127.0.0.1:4711/callback?code=abc&state=abc";
    await page.getByLabel(/paste the address/).fill(address);
    await button(page, "Continue with this address").click();
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(answersIn(source)).toEqual([
      { id: "q-sign-in", answer: { kind: "sign_in", action: "accept", pasted: address } },
    ]);
  });
});

const addressOf = (url: string) =>
  ({ id: "q", kind: "address", server: "bad", since: Date.now(), from: "a call", message: "Open this", url }) as const;

describe.runIf(hasChromium)("the page of one question", () => {
  const alone = () => new ScriptedSource({ questions: [requestQuestion(Date.now())] }, { ...sampleSource().handlers });

  test("shows the question and nothing else of the console", async () => {
    await using here = await chromium.open({ source: alone(), path: "/question/q-write" });
    const { page } = here;
    await page.getByRole("heading", { level: 1, name: "Run files.write_file?" }).waitFor();
    await page.waitForFunction(() => document.title === "(1) Run files.write_file? – fairlead");
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(page.url()).toBe(`http://127.0.0.1:${here.served.port}/question/q-write`);
    expect(await focusedName(page)).toBe("Run files.write_file?");
    await page.reload();
    await ready(page);
  });

  test("answers by keyboard, and says that it can be closed", async () => {
    await using here = await chromium.open({ source: alone(), path: "/question/q-write" });
    const { page, source } = here;
    await ready(page);
    await tabTo(page, "Yes, once");
    await page.keyboard.press("Space");
    await page.getByText("You can close this page.").waitFor();
    expect(answersIn(source)).toEqual([{ id: "q-write", answer: { kind: "request", choice: "once" } }]);
    expect(here.complaints).toEqual([]);
  });

  test("without an open question says so", async () => {
    await using here = await chromium.open({ source: new ScriptedSource(), path: "/question/q-write" });
    await here.page.getByRole("heading", { name: "This question is no longer open" }).waitFor();
  });

  test("a second window with the same address sees nothing", async () => {
    await using here = await chromium.open({ source: alone(), path: "/question/q-write" });
    const second = await here.context.newPage();
    await second.goto(`http://127.0.0.1:${here.served.port}/question/q-write#k=stolen`);
    await second.getByRole("heading", { name: "Open in another window, or no longer open" }).waitFor();
    expect(await second.content()).not.toMatch(/write_file|plan\.md/);
    await second.close();
  });
});

describe.runIf(hasChromium)("accepting and approving", () => {
  test("a changed definition is accepted after its difference is shown", async () => {
    await using here = await chromium.open({ view: "#/servers/db/changes" });
    const { page, source } = here;
    const change = page.getByRole("region", { name: "Change of the tool query" });
    await change.locator(".decision-ready").waitFor();
    await change.getByRole("button", { name: "Accept this definition" }).click();
    await page.getByText("Accepted 1 definition of db").first().waitFor();
    expect(source.commands).toContainEqual([
      "servers/accept",
      { server: "db", tools: [{ name: "query", digest: "3f".repeat(32) }] },
    ]);
  });

  test("a workspace's server is approved on the page that shows what would run", async () => {
    await using here = await chromium.open({ view: "#/now" });
    const { page, source } = here;
    await page.getByRole("button", { name: "Review: team-tools" }).click();
    await page.getByText("@example/mcp-team-tools@2.1.0").waitFor();
    expect(source.commands.map(([verb]) => verb)).not.toContain("servers/approve");
    await page.locator(".decision-ready").waitFor();
    await page.getByRole("button", { name: "Approve this definition" }).click();
    await page.getByText("team-tools is approved").first().waitFor();
    await go(page, "#/now");
  });
});
