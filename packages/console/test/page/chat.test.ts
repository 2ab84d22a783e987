import {
  type Answering,
  calls,
  chromiumProgram,
  deferred,
  focusedName,
  inTurn,
  openChromium,
  says,
  stdioServer,
  tabTo,
  temporaryFolder,
} from "@fairlead/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ofType, type SceneOptions } from "../state/scene.ts";
import { ask, drivenView, ready } from "../views/support/driven-view.ts";
import { press, shownView } from "../views/support/view-window.ts";
import { axeViolations } from "./support/console-window.ts";
import { openOpenaiConsole, openRealConsole, type RealConsole } from "./support/real-console.ts";

let browser: Browser | undefined;
beforeAll(async () => {
  browser = await openChromium("conversations in the console");
});
afterAll(() => browser?.close());

interface ChatOptions {
  readonly view?: string;
  readonly colours?: "light" | "dark";
  readonly width?: number;
  readonly scene?: Partial<SceneOptions>;
}

async function openChat(answer: Answering | undefined, options: ChatOptions = {}): Promise<RealConsole> {
  const { view = "#/conversations/new", colours = "light", width = 1280 } = options;
  const context = await browser?.newContext({ viewport: { width, height: 800 }, colorScheme: colours });
  if (context === undefined) throw new Error("Chromium is absent");
  const scene = options.scene ?? { servers: { good: stdioServer("well-behaved") } };
  return openRealConsole(context, answer, view, scene);
}

const box = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true });
const said = (page: Page, text: string) => page.locator(".conversation").getByText(text);
const region = (page: Page) => page.getByRole("status").first();

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

const asksAndAnswers = () => inTurn(calls("echo", { text: "Hello, Ada" }), says("The server **has** said it."));

describe.runIf(chromiumProgram !== undefined)("a conversation", () => {
  test("by keyboard alone: a new one, a call that needs a yes, its result, and the answer", async () => {
    await using here = await openChat(asksAndAnswers(), { view: "#/conversations" });
    const { page, scene } = here;
    await tabTo(page, "New conversation");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Message");
    await page.keyboard.type("Say hello to Ada.");
    await page.keyboard.press("Enter");
    await region(page).getByText("A question waits: Run good.echo?").waitFor({ state: "attached" });
    const card = page.getByRole("article", { name: "Run good.echo?" });
    await card.getByText("a conversation in the console").waitFor();
    expect(await card.textContent()).toContain('text: "Hello, Ada"');
    await tabTo(page, "Stop");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await focusedName(page)).toBe("Go to the question");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.closest(".question-card") !== null);
    // Half a second later, the buttons take an answer.
    await card.locator(".allow .button:not([aria-disabled])").first().waitFor();
    await tabTo(page, "Yes, once");
    await page.keyboard.press("Space");
    await said(page, "The server has said it.").waitFor();
    expect(await said(page, "has").locator("strong").or(page.locator(".conversation strong")).count()).toBe(1);
    await region(page).getByText("The model has answered").waitFor({ state: "attached" });
    const summary = page.locator(".call-card summary");
    expect(await summary.textContent()).toMatch(/^okgood\.echo/);
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("tabpanel").getByText("Hello, Ada").waitFor();
    expect(await page.locator(".call-card").textContent()).toContain("the default for tools asks about it");
    // The address and the command lead to the same conversation.
    const id = (await scene.run("conversations/list", {})).conversations[0]?.id ?? "";
    expect(page.url()).toContain(`#/conversations/${id}`);
    await page.getByText(`fairlead --resume ${id}`).waitFor();
    await page.reload();
    await said(page, "The server has said it.").waitFor();
    expect(here.complaints).toEqual([]);
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)(
    "has no violation of axe in %s colours, %i pixels wide, also while a question waits",
    async (colours, width) => {
      await using here = await openChat(asksAndAnswers(), { colours, width });
      const { page } = here;
      await box(page).waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await say(page, "Say hello to Ada.");
      const card = page.getByRole("article", { name: "Run good.echo?" });
      await card.locator(".allow .button:not([aria-disabled])").first().waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await card.getByRole("button", { name: "Yes, once" }).click();
      await said(page, "The server has said it.").waitFor();
      await page.locator(".call-card summary").click();
      await page.getByRole("tabpanel").waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    },
  );

  test("has the inbox's questions: an answer in another tab or program counts, and a no is a denial with its reason", async () => {
    await using here = await openChat(
      inTurn(calls("echo", { text: "one" }), calls("echo", { text: "two" }), says("Enough.")),
    );
    const { page, scene } = here;
    await say(page, "Echo twice.");
    const { question } = await scene.event(ofType("question"));
    const other = await here.open("#/inbox");
    await other.getByRole("article", { name: "Run good.echo?" }).waitFor();
    await scene.inbox.answer(question.id, "once", "fairlead approvals");
    const second = await scene.event(ofType("question", ({ question: { id } }) => id !== question.id));
    await other.getByRole("link", { name: "Next question: Run good.echo?" }).click();
    const card = other.getByRole("article", { name: "Run good.echo?" });
    await card.getByText('"two"').waitFor();
    await card.getByRole("textbox", { name: "Why not, for the model to read" }).fill("one was enough");
    await card.locator(".decision .button:not([aria-disabled])").first().waitFor();
    await card.getByRole("button", { name: "No", exact: true }).click();
    await said(page, "Enough.").waitFor();
    expect(await page.locator(".question-card").count()).toBe(0);
    expect(second.question.call).not.toBe(question.call);
    const cards = page.locator(".call-card");
    expect(await cards.nth(0).textContent()).toMatch(/^okgood\.echo/);
    expect(await cards.nth(1).textContent()).toContain("denied good.echo denied: the user declined it: one was enough");
    // The other tab shows the same conversation.
    await other.evaluate((hash) => {
      location.hash = hash;
    }, new URL(page.url()).hash);
    await said(other, "Enough.").waitFor();
  });

  test("arrives while the model writes, keeps its formatting, and stops when the person says so", async () => {
    const gate = deferred<void>();
    const answer = {
      pieces: [{ text: "The **list** is:\n\n- one\n- tw" }, { until: gate.promise }, { text: "o\n- three\n" }],
    };
    await using here = await openChat(inTurn(answer, { pieces: [{ text: "I be" }, { until: new Promise(() => {}) }] }));
    const { page } = here;
    await say(page, "List.");
    await page.locator(".conversation li li").getByText("one").waitFor();
    expect(await page.locator(".conversation strong").textContent()).toBe("list");
    // The element stays while the text grows: a selection in it stays too.
    await page.evaluate(() => document.querySelector(".conversation strong")?.setAttribute("data-first", ""));
    gate.resolve();
    await page.locator(".conversation li li").getByText("three").waitFor();
    expect(await page.locator(".conversation strong[data-first]").count()).toBe(1);
    // The next message can be sent when the turn has ended, and the turn ends after its last words.
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    await say(page, "Again.");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await said(page, "You stopped the turn.").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    // Only the end of a turn was read out, and no text of the model.
    expect(await region(page).textContent()).not.toContain("list");
  });

  test("follows its end, until the person scrolls up", async () => {
    const gate = deferred<void>();
    const lines = (from: number) => Array.from({ length: 60 }, (_, at) => `Line ${from + at}.\n\n`).join("");
    await using here = await openChat(
      inTurn({ pieces: [{ text: lines(1) }, { until: gate.promise }, { text: lines(61) }] }),
    );
    const { page } = here;
    await say(page, "Write.");
    await said(page, "Line 60.").waitFor();
    const atEnd = () => document.documentElement.scrollHeight - innerHeight - scrollY < 2;
    await page.waitForFunction(atEnd);
    await page.mouse.move(500, 300);
    await page.mouse.wheel(0, -400);
    await page.getByRole("button", { name: "Go to the latest message" }).waitFor();
    const place = await page.evaluate(() => scrollY);
    gate.resolve();
    await said(page, "Line 120.").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(place);
    await page.getByRole("button", { name: "Go to the latest message" }).click();
    await page.waitForFunction(atEnd);
    await page.getByRole("button", { name: "Go to the latest message" }).waitFor({ state: "detached" });
  });

  test("that was recorded is resumed by the next message", async () => {
    await using here = await openChat(inTurn(says("One."), says("Two.")));
    const { page, scene } = here;
    await say(page, "First.");
    await said(page, "One.").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    const id = (await scene.run("conversations/list", {})).conversations[0]?.id ?? "";
    await scene.run("chat/close", { conversation: id });
    await page.reload();
    await said(page, "One.").waitFor();
    await say(page, "Second.");
    await said(page, "Two.").waitFor();
    expect(await page.locator(".conversation > li").allTextContents()).toEqual([
      "YouFirst.",
      "ModelOne.\n",
      "YouSecond.",
      "ModelTwo.\n",
    ]);
    expect(here.api.seen).toHaveLength(2);
  });

  test("works with a model behind an API as OpenAI's too: a call with its question, its result and the answer", async () => {
    const context = await browser?.newContext();
    if (context === undefined) throw new Error("Chromium is absent");
    const servers = { good: stdioServer("well-behaved") };
    await using here = await openOpenaiConsole(context, asksAndAnswers(), "#/conversations/new", { servers });
    const { page, api } = here;
    await page.waitForFunction(() => document.querySelector("input")?.placeholder.includes("own-model"));
    await say(page, "Say hello to Ada.");
    await page.getByRole("article", { name: "Run good.echo?" }).waitFor();
    await press(page, "Yes, once");
    await said(page, "The server has said it.").waitFor();
    expect(await page.locator(".call-card summary").textContent()).toMatch(/^okgood\.echo/);
    expect(api.seen).toHaveLength(2);
    expect(here.complaints).toEqual([]);
  });

  test("offers the model no tool that is for views only, and shows the view of a result beside it", async () => {
    await using folder = await temporaryFolder();
    await folder.write("view.json", { html: drivenView("own view") });
    const rules = '[[rule]]\ntoolName = "show"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n';
    const servers = {
      own: stdioServer("views", "legacy", `${folder.path}/view.json`, "own"),
      attack: stdioServer("attack-view"),
    };
    await using here = await openChat(inTurn(calls("show"), calls("poll"), says("It is shown.")), {
      scene: { servers, rules },
    });
    const { page, scene, api } = here;
    await scene.host.start({ servers: ["own", "attack"] });
    await say(page, "Show it.");
    await said(page, "It is shown.").waitFor();
    const offered = JSON.stringify(api.seen[0]?.body);
    expect([offered.includes('"show"'), offered.includes('"hidden"'), offered.includes('"poll"')]).toEqual([
      true,
      true,
      false,
    ]);
    // A name that the model was never offered is no call of a server.
    const [shown, poll] = [page.locator(".call-card").nth(0), page.locator(".call-card").nth(1)];
    expect(await poll.locator("summary").textContent()).toMatch(/^failed/);
    expect(scene.events.filter(ofType("call", ({ call }) => call.name === "poll"))).toEqual([]);
    await shown.locator("summary").click();
    await shown.getByRole("tab", { name: "View" }).click();
    await shown.getByRole("heading", { name: "Show the view of own?" }).waitFor();
    await press(page, "Show the view");
    const view = await shownView(page);
    await ready(view);
    expect(await axeViolations(page)).toEqual([]);
    // What the view calls is asked about here too, and is no call of the conversation.
    const polled = ask(view, "tools/call", { name: "poll", arguments: {} });
    await page.getByRole("heading", { name: "Run own.poll?" }).waitFor();
    await press(page, "Yes, once");
    expect(await polled).toMatchObject({ result: { content: [{ text: "own poll" }] } });
    expect(api.seen).toHaveLength(3);
    expect(here.complaints).toEqual([]);
  });

  test("without a model says how to get one, and what can be done without", async () => {
    await using here = await openChat(undefined);
    const { page } = here;
    await page.getByText("no model configured").waitFor();
    await page.getByText("fairlead secret set GEMINI_API_KEY").waitFor();
    await page.locator(".no-model").getByText("ANTHROPIC_API_KEY").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await say(page, "Hello?");
    await page.locator(".composer").getByText("no model configured").waitFor();
    // What was written is not lost.
    expect(await box(page).inputValue()).toBe("Hello?");
    await page.locator(".no-model").getByRole("link", { name: "Tools" }).click();
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
  });

  test("whose model fails says why and what to do next", async () => {
    await using here = await openChat(inTurn(says("Never.")));
    const { page, api } = here;
    await page.waitForFunction(() => document.querySelector("input")?.placeholder.includes("gemini"));
    api.settings.apiKey = "another key";
    await say(page, "Hello?");
    const notice = page.locator(".conversation .notice-bad");
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/GEMINI_API_KEY/);
    await region(page).getByText("The turn has failed").waitFor({ state: "attached" });
  });
});
