/** A console of real servers in Chromium, which can show views of their tools (MCP Apps). */

import { systemClock } from "@fairlead/core/clock";
import type { Browser, BrowserContext, Frame, Page } from "playwright-core";
import { EventRing } from "../../../src/server/door/event-ring.ts";
import { PageListener } from "../../../src/server/door/page-listener.ts";
import { ViewFrames } from "../../../src/server/views/view-frames.ts";
import { type ConsoleScene, consoleScene, type SceneOptions } from "../../state/scene.ts";
import { builtPage } from "../../support/built-page.ts";

export interface ViewWindow extends AsyncDisposable {
  readonly scene: ConsoleScene;
  readonly page: Page;
  readonly context: BrowserContext;
  /** The origin of the console's page. */
  readonly origin: string;
  readonly frames: ViewFrames;
  /** Errors of scripts, of the console's own content security policy, and dialogs of the browser. */
  readonly complaints: string[];
  /** Addresses that the browser has requested. */
  readonly requests: string[];
  /** A new one-time address of the console. */
  address(): string;
  /** Shows the page of a tool, and presses its button. Waits until the call has ended. */
  call(server: string, tool: string): Promise<void>;
  /** Opens the tab with the view. */
  openTab(): Promise<void>;
  /** Allows the view that the console asks about. */
  allow(): Promise<void>;
  /** The frame of the shown view itself. */
  view(): Promise<Frame>;
}

export interface ViewWindowOptions extends SceneOptions {
  readonly colours?: "light" | "dark";
  readonly width?: number;
}

/** Presses a button of a decision, once it has stood still. */
export async function press(page: Page, name: string): Promise<void> {
  const button = page.locator(".decision").getByRole("button", { name });
  await button.scrollIntoViewIfNeeded();
  // The page notices with the next drawing that the button has moved.
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
  await page.locator(".decision-ready").getByRole("button", { name }).click();
}

/** The frame of the view that the page shows. */
export async function shownView(page: Page): Promise<Frame> {
  const inner = await page.waitForSelector("iframe.view-frame");
  const proxy = await inner.contentFrame();
  const own = await proxy?.waitForSelector("iframe");
  const frame = await own?.contentFrame();
  if (frame === null || frame === undefined) throw new Error("the view has no frame");
  return frame;
}

export async function viewWindow(
  browser: Browser,
  { colours = "light", width = 1280, ...options }: ViewWindowOptions,
): Promise<ViewWindow> {
  const scene = await consoleScene(options);
  await scene.host.start({ servers: Object.keys(options.servers) });
  const frames = await ViewFrames.listen(systemClock);
  const listener = await PageListener.listen({ files: builtPage(), clock: systemClock, port: 0, frames });
  const ring = new EventRing();
  const stop = scene.state.onEvent((event) => ring.add(event));
  const open = listener.open({ kind: "console", path: "/", source: scene.state, ring });
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: colours });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  // Errors of views are theirs.
  page.on("pageerror", ({ message, stack = "" }) => {
    if (stack.includes(`http://127.0.0.1:${listener.port}/`)) complaints.push(message);
  });
  page.on("console", (message) => {
    // What the browser says about the pages of views has their address.
    const isOurs = message.location().url.startsWith(`http://127.0.0.1:${listener.port}`);
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && isOurs && !isAnswer) complaints.push(message.text());
  });
  await page.goto(open.newAddress(60_000));
  await page.getByText("live", { exact: true }).first().waitFor();
  return {
    scene,
    page,
    context,
    origin: `http://127.0.0.1:${listener.port}`,
    frames,
    complaints,
    requests,
    address: () => open.newAddress(60_000),
    async call(server, tool) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/tools/${server}/${tool}`);
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("tab", { name: "Result" }).waitFor();
    },
    openTab: () => page.getByRole("tab", { name: "View" }).click(),
    allow: () => press(page, "Show the view"),
    view: () => shownView(page),
    async [Symbol.asyncDispose]() {
      await context.close();
      stop();
      await Promise.all([listener.close(), frames.close()]);
      await scene[Symbol.asyncDispose]();
    },
  };
}
