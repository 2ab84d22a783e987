/** `fairlead console` with its real page in Chromium: what the page shows when its command or its host ends. */

import { chromiumProgram, openChromium, programServer, until } from "@fairlead/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineOf } from "./support/console-client.ts";
import { processesOf } from "./support/left-over.ts";
import { type Machine, machine, userFile } from "./support/machine.ts";
import { startPiped } from "./support/process.ts";

let browser: Browser | undefined;

beforeAll(async () => {
  browser = await openChromium("fairlead console");
});
afterAll(() => browser?.close());

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("fairlead console");

const address = /^http:\/\/127\.0\.0\.1:\d+\/#k=/;

async function openConsole() {
  const here = await machine({ [userFile]: { mcpServers: { growing: programServer("growing") } } });
  const { child, ending } = startPiped(here, "console", "--no-open");
  // Before anything else is waited for: the line comes once.
  const printed = lineOf(child.stdout, address);
  const page = await browser?.newPage();
  if (page === undefined) throw new Error("Chromium is absent");
  await page.goto(await printed);
  await live(page);
  return {
    here,
    page,
    child,
    async [Symbol.asyncDispose]() {
      await page.close();
      child.kill("SIGINT");
      await ending;
      await here.run("daemon", "stop");
      await until(() => processesOf(here).length === 0);
      await here[Symbol.asyncDispose]();
    },
  };
}

async function live(page: Page): Promise<void> {
  await page.getByText("live", { exact: true }).first().waitFor();
}

async function hostPid(here: Machine): Promise<number> {
  const { stdout } = await here.run("daemon", "status", "--json");
  return (JSON.parse(stdout) as { readonly pid: number }).pid;
}

describe.runIf(chromiumProgram !== undefined)("in Chromium", () => {
  test("the page shows the servers, also after a reload, and says when the command has ended", async () => {
    await using console = await openConsole();
    const { page, child } = console;
    await page.getByText("growing").first().waitFor();
    expect(page.url()).not.toContain("k=");
    await page.reload();
    await live(page);
    await page.getByText("growing").first().waitFor();
    child.kill("SIGINT");
    await page.getByRole("heading", { level: 1, name: "This console was closed" }).waitFor();
    expect(await page.locator("main").textContent()).toContain("fairlead console");
    expect(await page.content()).not.toContain("growing");
  });

  test("a page whose host was killed says that it has no session, and the new address opens it again", async () => {
    await using console = await openConsole();
    const { page, child, here } = console;
    const again = lineOf(child.stderr, address);
    process.kill(await hostPid(here), "SIGKILL");
    await page.getByRole("heading", { level: 1, name: "This session has ended" }).waitFor();
    await page.goto(await again);
    await live(page);
    await page.getByText("growing").first().waitFor();
  });

  test("a page of a command that was killed is closed by the host", async () => {
    await using console = await openConsole();
    const { page, child } = console;
    child.kill("SIGKILL");
    await page.getByRole("heading", { level: 1, name: "This console was closed" }).waitFor();
  });
});
