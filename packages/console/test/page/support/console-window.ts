/** A window of Chromium with the console in it, and what happens there. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromiumProgram, openChromium } from "@fairlead/test-servers";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { PagePath } from "../../../src/protocol/http.ts";
import type { ConsoleSource } from "../../../src/server/console-source.ts";
import { sampleSource } from "./sample-state.ts";
import type { ScriptedSource } from "./scripted-source.ts";
import { type ServedPage, servePage } from "./served-page.ts";

export interface WindowOptions<S extends ConsoleSource> {
  readonly source?: S;
  /** The address of a view, such as `#/servers/files`. */
  readonly view?: string;
  readonly colours?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** The page of one question. */
  readonly path?: PagePath;
  /** The server does not answer yet: do not wait for its state. */
  readonly isWaiting?: boolean;
}

export interface ConsoleWindow<S extends ConsoleSource> extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly source: S;
  readonly served: ServedPage;
  /** Requests to any address. */
  readonly requests: readonly string[];
  /** Errors of scripts, violations of the content security policy, and dialogs of the browser. */
  readonly complaints: readonly string[];
}

export const hasChromium: boolean = chromiumProgram !== undefined;

/** Starts one Chromium for the tests of a file. Without Chromium it says so, and the file's tests do not run. */
export function useChromium(subject: string): {
  open<S extends ConsoleSource = ScriptedSource>(options?: WindowOptions<S>): Promise<ConsoleWindow<S>>;
} {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await openChromium(subject);
  });
  afterAll(() => browser?.close());
  return {
    open: async (options = {}) => {
      if (browser === undefined) throw new Error("Chromium is absent");
      return openWindow(browser, options);
    },
  };
}

async function openWindow<S extends ConsoleSource>(
  browser: Browser,
  options: WindowOptions<S>,
): Promise<ConsoleWindow<S>> {
  const {
    // Without a source, `S` is its default.
    source = sampleSource() as ConsoleSource as S,
    view,
    colours = "light",
    width = 1280,
    height = 800,
    path = "/",
    isWaiting = false,
  } = options;
  const served = await servePage(source);
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: colours });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  await page.goto(served.address(path, path === "/" ? "console" : "question"));
  await page.getByRole("heading", { level: 1 }).waitFor();
  if (path === "/" && !isWaiting) await page.getByText("live", { exact: true }).first().waitFor();
  if (view !== undefined) await go(page, view);
  return {
    page,
    context,
    source,
    served,
    requests,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      await served[Symbol.asyncDispose]();
    },
  };
}

/** Shows another view, and waits until its data is there. */
export async function go(page: Page, view: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, view);
  await page.waitForFunction(
    () => document.querySelector("h1") !== null && document.querySelector(".loading") === null,
  );
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(options: object): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  }>;
}

/** Returns what axe-core finds wrong, one line for each element. `rules`: only these; default: all. */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(`globalThis.axe ?? (() => { ${axe} })()`);
  return page.evaluate(async (only) => {
    const { axe: checker } = globalThis as unknown as { readonly axe: Axe };
    const options = { resultTypes: ["violations"], ...(only && { runOnly: only }) };
    const { violations } = await checker.run(options);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.replaceAll("\n", " ")}`),
    );
  }, rules);
}
