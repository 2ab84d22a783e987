import { openChromium, realServer, stdioServer } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allowAll } from "../state/scene.ts";
import { axeViolations, go, hasChromium, useChromium } from "./support/console-window.ts";
import { openRealConsole, type RealConsole } from "./support/real-console.ts";
import { requestQuestion } from "./support/sample-questions.ts";
import { sampleServers } from "./support/sample-servers.ts";
import { sampleSource } from "./support/sample-state.ts";

/** Every view of the console of a real host: a server with everything, one that fails, one that is disabled. */
const views = [
  "#/now",
  "#/inbox",
  "#/servers",
  "#/servers/everything",
  "#/servers/everything/log",
  "#/servers/everything/policy",
  "#/servers/everything/changes",
  "#/servers/everything/test",
  "#/servers/broken",
  "#/tools",
  "#/tools/everything",
  "#/tools/everything/get-annotated-message?args=%7B%22messageType%22%3A%22error%22%7D",
  "#/tools?search=sum%20of%20two%20numbers",
  "#/resources",
  "#/resources/everything?uri=demo%3A%2F%2Fresource%2Fstatic%2Fdocument%2Ffeatures.md",
  "#/prompts",
  "#/prompts/everything/args-prompt",
  "#/skills",
  "#/traffic",
  "#/history",
  "#/conversations",
  "#/conversations/new",
  "#/policy",
  "#/policy?server=everything&tool=get-sum",
  "#/changes",
  "#/budget",
] as const;

const chromium = useChromium("console, appearance");
let browser: Awaited<ReturnType<typeof openChromium>>;
let real: RealConsole;
let page: Page;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  browser = await openChromium("console, appearance");
  const context = await browser?.newContext({ viewport: { width: 1280, height: 800 } });
  if (context === undefined) return;
  real = await openRealConsole(context, undefined, "#/now", {
    servers: {
      everything: realServer("everything", "stdio"),
      broken: stdioServer("exits"),
      resting: { ...stdioServer("well-behaved"), disabled: true },
    },
    rules: allowAll,
  });
  ({ page } = real);
  close = async () => {
    await real[Symbol.asyncDispose]();
  };
  await real.scene.host.start({ servers: ["everything", "broken"] });
  await page
    .getByRole("row", { name: /everything/ })
    .getByText("connected")
    .waitFor();
  await call(page);
});
afterAll(async () => {
  await close();
  await browser?.close();
});

/** Calls a tool, so that the traffic, the history and the last calls have something to show. */
async function call(on: Page): Promise<void> {
  await go(on, "#/tools/everything/get-structured-content?args=%7B%22location%22%3A%22Chicago%22%7D");
  await on.getByRole("button", { name: "Call", exact: true }).click();
  await on.getByRole("tab", { name: "Structured" }).waitFor();
}

/** Shows a view and waits until its lists are there. */
async function show(view: string): Promise<void> {
  await go(page, view);
  await page.locator(".view").waitFor();
}

interface Box {
  readonly what: string;
  readonly width: number;
  readonly height: number;
}

/** The controls that are smaller than 24 × 24 pixels. A link in a sentence is as high as its line. */
function smallTargets(on: Page): Promise<readonly Box[]> {
  return on.evaluate(() => {
    const controls = document.querySelectorAll<HTMLElement>(
      "a[href], button, input, select, textarea, summary, [role=tab], [role=option]",
    );
    return [...controls].flatMap((element) => {
      const target = element.closest("label") ?? element;
      const { width, height } = target.getBoundingClientRect();
      const isShown = element.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1;
      const isInText = getComputedStyle(element).display === "inline";
      if (!isShown || isInText || (width >= 24 && height >= 24)) return [];
      return [{ what: `${element.tagName} ${element.className} ${element.textContent}`.slice(0, 80), width, height }];
    });
  });
}

/** How many pixels the page is wider than its window. */
const beyond = (on: Page): Promise<number> =>
  on.evaluate(() =>
    Math.max(
      ...[
        document.documentElement,
        ...document.querySelectorAll(".detail-panel, .dialog, .view-head, .section-head"),
      ].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ),
  );

/** The dialogs, and what opens each. */
const dialogs: readonly (readonly [name: string, view: string, open: (on: Page) => Promise<void>])[] = [
  ["the search", "#/now", (on) => on.keyboard.press("Control+k")],
  ["a new rule", "#/policy", (on) => on.getByRole("button", { name: "New rule" }).click()],
  ["the removal of a rule", "#/policy", (on) => on.getByRole("button", { name: /^Remove the rule/ }).click()],
];

describe.runIf(hasChromium)("every view of a real host", () => {
  test.each(views)("%s: axe-core finds nothing wrong, light, dark and 360 pixels wide", async (view) => {
    await show(view);
    const found: string[] = [];
    for (const [width, colorScheme, rules] of [
      [1280, "light"],
      [1280, "dark", ["color-contrast"]],
      [360, "light"],
      [360, "dark", ["color-contrast"]],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      found.push(...(await axeViolations(page, rules)).map((line) => `${width} ${colorScheme}: ${line}`));
    }
    expect(found).toEqual([]);
  });

  test.each(dialogs)("with %s open, axe-core finds nothing wrong, and it fits a telephone", async (_, view, open) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await show(view);
    await open(page);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    const found: string[] = [];
    for (const [width, colorScheme] of [
      [1280, "light"],
      [1280, "dark"],
      [360, "light"],
      [360, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      found.push(...(await axeViolations(page)).map((line) => `${width} ${colorScheme}: ${line}`));
      const wider = await beyond(page);
      if (wider > 0) found.push(`${width} ${colorScheme}: ${wider} pixels too wide`);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(found).toEqual([]);
  });

  test.each([
    ["a window of 1280 × 800 at a zoom of 200 %", 640, 400],
    ["a telephone", 360, 740],
    ["half a screen", 900, 700],
  ] as const)("fits in %s: it scrolls in one direction, and each target has 24 pixels", async (_, width, height) => {
    await page.setViewportSize({ width, height });
    const found: unknown[] = [];
    for (const view of views) {
      await show(view);
      const wider = await beyond(page);
      if (wider > 0) found.push(`${view}: ${wider} pixels wider than the window`);
      found.push(...(await smallTargets(page)).map((box) => ({ view, ...box })));
    }
    expect(found).toEqual([]);
  });

  test("with forced colours, what is chosen has an outline or an underline, and states keep their shape and word", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
    const found: string[] = [];
    for (const view of views) {
      await show(view);
      found.push(
        ...(
          await page.evaluate(() => {
            const chosen = document.querySelectorAll<HTMLElement>(
              "[aria-current=page], [aria-pressed=true], [role=tab][aria-selected=true]",
            );
            const unmarked = [...chosen].filter((element) => {
              if (!element.checkVisibility()) return false;
              const { outlineStyle, borderBottomColor } = getComputedStyle(element);
              const other = element.parentElement?.querySelector("[aria-selected=false]");
              return other == null
                ? outlineStyle === "none"
                : getComputedStyle(other).borderBottomColor === borderBottomColor;
            });
            const marks = [...document.querySelectorAll<HTMLElement>(".state-mark")];
            const silent = marks.filter((mark) => {
              const shape = mark.querySelector("svg");
              const { color } = getComputedStyle(mark);
              return shape === null || getComputedStyle(shape).stroke !== color || !/\p{L}/u.test(mark.textContent);
            });
            return [...unmarked, ...silent].map((element) => element.outerHTML.slice(0, 160));
          })
        ).map((what) => `${view} ${what}`),
      );
    }
    await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
    expect(found).toEqual([]);
  });

  test("with reduced motion, nothing moves by itself", async () => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      for (const type of ["animationstart", "transitionrun"])
        document.addEventListener(type, ({ target }) => seen.push(`${type} ${(target as Element).className}`), true);
    });
    const running: string[] = [];
    for (const view of views) {
      await show(view);
      running.push(
        ...(await page.evaluate(() =>
          document.getAnimations().map((animation) => String((animation as CSSAnimation).animationName)),
        )),
      );
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.press("Escape");
    await call(page);
    expect(await page.evaluate(() => (globalThis as unknown as { readonly seen: unknown }).seen)).toEqual([]);
    expect(running).toEqual([]);
    await page.emulateMedia({ reducedMotion: "no-preference" });
  });

  test("has an address and a command: a reload shows it again, Back and Forward lead through the views", async () => {
    const titles: string[] = [];
    const heading = page.getByRole("heading", { level: 1 });
    const wanting: string[] = [];
    for (const view of views) {
      await page.evaluate((hash) => history.pushState(null, "", hash), view);
      await page.evaluate(() => dispatchEvent(new HashChangeEvent("hashchange")));
      await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".loading"));
      const title = (await heading.textContent()) ?? "";
      titles.push(title);
      await page.reload();
      await page.getByText("live", { exact: true }).first().waitFor();
      await page.locator(".copy-command").first().waitFor();
      if ((await heading.textContent()) !== title || !page.url().endsWith(view)) wanting.push(`${view}: ${page.url()}`);
      const commands = await page.locator(".copy-command").allTextContents();
      if (!commands.every((words) => words.startsWith("Copy the command fairlead"))) wanting.push(...commands);
    }
    expect(wanting).toEqual([]);
    for (const at of [views.length - 2, views.length - 3]) {
      await page.goBack();
      await page.waitForFunction((title) => document.querySelector("h1")?.textContent === title, titles[at]);
      expect(page.url().endsWith(views[at] ?? "")).toBe(true);
    }
    await page.goForward();
    await page.waitForFunction((title) => document.querySelector("h1")?.textContent === title, titles.at(-2));
    expect(page.url().endsWith(views.at(-2) ?? "")).toBe(true);
    expect(real.complaints).toEqual([]);
  });
});

describe.runIf(hasChromium)("twenty servers, ten of them broken in ten ways, at 1280 × 800", () => {
  test.each(["#/now", "#/servers"])("%s shows each one with its whole cause without scrolling", async (view) => {
    const now = Date.now();
    const source = sampleSource(now);
    source.state = { ...source.state, questions: [requestQuestion(now)] };
    await using here = await chromium.open({ source, view });
    const rows = here.page.locator("tr[data-row^='server ']");
    expect(await rows.count()).toBe(20);
    const hidden = await rows.evaluateAll((elements) =>
      elements.flatMap((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        const cause = row.querySelector(".cell-cause .cut");
        const isCut = cause !== null && cause.scrollWidth > cause.clientWidth;
        if (top >= 0 && bottom <= innerHeight && !isCut) return [];
        return [`${row.getAttribute("data-row")}: ${cause?.scrollWidth} in ${cause?.clientWidth} pixels`];
      }),
    );
    expect(hidden).toEqual([]);
    const causes = sampleServers(now).flatMap(({ name, cause }) => (cause === undefined ? [] : [name]));
    expect(causes.length).toBe(10);
    for (const name of causes)
      expect(await here.page.locator(`tr[data-row='server ${name}'] .cell-cause .cut`).isVisible()).toBe(true);
  });
});
