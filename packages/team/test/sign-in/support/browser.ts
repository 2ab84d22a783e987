/** A person's browser on the pages of the gateway and of the company's issuer. */

import { openChromium } from "@fairlead/test-servers";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";

export interface Person extends AsyncDisposable {
  readonly page: Page;
  /** Opens an address, and logs in at the company's issuer if it asks. */
  open(address: string, user: string): Promise<void>;
}

export function openBrowser(): Promise<Browser | undefined> {
  return openChromium("pages for sign-ins of a team");
}

/** Opens a browser window with cookies of its own. */
export async function person(browser: Browser): Promise<Person> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled: false });
  const page = await context.newPage();
  return {
    page,
    async open(address, user) {
      await page.goto(address);
      const login = page.locator('input[name="login"]');
      if ((await login.count()) === 0) return;
      await login.fill(user);
      await page.locator('input[name="password"]').fill("any");
      await page.locator('button[type="submit"]').click();
      // The issuer asks whether the gateway may know who the user is.
      const agree = page.locator('button:has-text("Continue")');
      if (new URL(page.url()).pathname.startsWith("/interaction/")) await agree.click();
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** What axe finds wrong in a page. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(`(() => { ${axe.source} })()`);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as { readonly axe: AxeChecker };
    const { violations } = await checker.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
  });
}

interface AxeChecker {
  readonly run: (options: object) => Promise<{
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  }>;
}
