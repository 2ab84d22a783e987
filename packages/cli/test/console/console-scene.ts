/** A machine with the real `fairlead console` in Chromium, clients of `fairlead serve`, and people who use only the keyboard. */

import { openChromium, tabTo } from "@fairlead/test-servers";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { lineOf } from "../support/console-client.ts";
import { type GatewayMachine, type GatewayOptions, gatewayMachine } from "../support/gateway-client.ts";
import { startPiped } from "../support/process.ts";

export interface ConsoleScene extends AsyncDisposable {
  readonly here: GatewayMachine;
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What a browser complains of: errors of scripts, violations of the page's policy, dialogs. */
  readonly complaints: readonly string[];
  /** Addresses that the page has requested from elsewhere. */
  readonly foreign: readonly string[];
  /** Starts another console, and opens it in a window of its own. */
  open(): Promise<OpenedConsole>;
}

export interface OpenedConsole extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
  readonly foreign: readonly string[];
  /** Lines that the command prints from now on. */
  nextAddress(): Promise<string>;
}

const address = /^http:\/\/127\.0\.0\.1:\d+\/#k=/;

/** Starts one Chromium and one console. Dispose it after the tests of the file. */
export async function consoleScene(
  subject: string,
  servers: Readonly<Record<string, object>>,
  options: GatewayOptions = {},
): Promise<ConsoleScene> {
  const browser = await openChromium(subject);
  if (browser === undefined) throw new Error("Chromium is absent");
  const here = await gatewayMachine(servers, { isTrusted: false, ...options });
  const open = (): Promise<OpenedConsole> => openConsole(here, browser);
  const first = await open();
  const { page, context, complaints, foreign } = first;
  return {
    here,
    browser,
    page,
    context,
    complaints,
    foreign,
    open,
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await browser.close();
      await here[Symbol.asyncDispose]();
    },
  };
}

async function openConsole(here: GatewayMachine, browser: Browser): Promise<OpenedConsole> {
  const { child, ending } = startPiped(here, "console", "--no-open");
  const printed = await lineOf(child.stdout, address);
  const { origin } = new URL(printed);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const [complaints, foreign]: [string[], string[]] = [[], []];
  page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    // The page of a view is on another origin of the console's own.
    const isView = /^http:\/\/localhost:\d+\/[\w-]{43}$/.test(url);
    if (!url.startsWith(`${origin}/`) && !url.startsWith("blob:") && !isView) foreign.push(url);
  });
  await page.goto(printed);
  await live(page);
  return {
    page,
    context,
    complaints,
    foreign,
    nextAddress: () => lineOf(child.stderr, address),
    async [Symbol.asyncDispose]() {
      await context.close();
      child.kill("SIGINT");
      await ending;
    },
  };
}

/** Waits until the page shows the current state of the host. */
export async function live(page: Page): Promise<void> {
  await page.getByText("live", { exact: true }).first().waitFor();
}

/** Shows the view of an address, and waits until its data is there. */
export async function go(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
  await page.locator("h1").waitFor();
  await page.locator(".loading").waitFor({ state: "detached" });
}

/**
 * Goes to a control with the Tab key, from where the focus is. Waits until the control is there, and fails if the page has
 * lost the focus.
 */
export async function reach(
  page: Page,
  role: "button" | "link" | "textbox" | "searchbox" | "combobox" | "tab",
  name: string | RegExp,
): Promise<void> {
  await page.getByRole(role, { name, exact: true }).first().waitFor();
  await hasFocus(page);
  await tabTo(page, name);
}

/** Waits until something on the page has the focus. */
export async function hasFocus(page: Page): Promise<void> {
  await page.locator("body :focus").first().waitFor({ state: "attached" });
}

/** Presses a button of a decision with the space bar, as soon as it can be pressed. The focus is on it. */
export async function pressWhenReady(page: Page): Promise<void> {
  // The focus may have moved the page. It is drawn once before the button's state counts.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  await page.locator(".decision-ready :focus").waitFor({ state: "attached" });
  await page.keyboard.press("Space");
}
