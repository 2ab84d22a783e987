import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { axeViolations, hasChromium, useChromium } from "./support/console-window.ts";
import { requestQuestion } from "./support/sample-questions.ts";
import { ScriptedSource } from "./support/scripted-source.ts";

const views = [
  "#/now",
  "#/servers",
  "#/servers/postgres",
  "#/servers/db",
  "#/servers/db/changes",
  "#/servers/db/policy",
  "#/servers/files/log",
  "#/servers/files/test",
  "#/servers/team-tools",
  "#/servers/none",
  "#/inbox",
  "#/inbox/q-changed",
  "#/inbox/q-form",
  "#/inbox/q-address",
  "#/inbox/q-sign-in",
  "#/history",
  "#/history?entry=h00239",
  "#/nowhere",
];

/** The colours change nothing but the contrast. */
const contrast = ["color-contrast"];
const modes = [
  { name: "light", colours: "light", width: 1280 },
  { name: "dark", colours: "dark", width: 1280, rules: contrast },
  { name: "360 pixels wide, light", colours: "light", width: 360 },
  { name: "360 pixels wide, dark", colours: "dark", width: 360, rules: contrast },
] as const;

const chromium = useChromium("console, axe");

/** Returns what is wrong with what the page shows now, in all modes. */
async function wrongIn(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, colours, width, ...only } of modes) {
    await page.emulateMedia({ colorScheme: colours });
    await page.setViewportSize({ width, height: 740 });
    const wrong = await axeViolations(page, "rules" in only ? only.rules : undefined);
    found.push(...wrong.map((line) => `${name}: ${line}`));
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (beyond > 0) found.push(`${name}: ${beyond} pixels wider than the window`);
  }
  return found;
}

describe.runIf(hasChromium)("axe-core, light, dark and 360 pixels wide", () => {
  test.each(views)("finds nothing wrong in %s", async (view) => {
    await using here = await chromium.open({ view });
    expect(await wrongIn(here.page)).toEqual([]);
    expect(here.complaints).toEqual([]);
  });

  test("finds nothing wrong with a dialog open", async () => {
    await using here = await chromium.open();
    const { page } = here;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("e");
    expect(await wrongIn(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "detached" });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("button", { name: "Open the navigation" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test("finds nothing wrong on the page of one question, before and after its answer", async () => {
    const source = new ScriptedSource({ questions: [requestQuestion(Date.now())] });
    await using here = await chromium.open({ source, path: "/question/q-write" });
    const { page } = here;
    await page.getByRole("heading", { name: "Run files.write_file?" }).waitFor();
    expect(await wrongIn(page)).toEqual([]);
    source.emit({ type: "answered", id: "q-write", by: "the app", answer: "no" });
    await page.getByRole("heading", { name: "Answered in the app" }).waitFor();
    expect(await wrongIn(page)).toEqual([]);
  });

  test("finds nothing wrong on the pages without a session", async () => {
    await using here = await chromium.open();
    const { page } = here;
    await page.evaluate(() => sessionStorage.clear());
    for (const path of ["/", "/question/q-write", "/#k=used"]) {
      await page.goto("about:blank");
      await page.goto(`http://127.0.0.1:${here.served.port}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await wrongIn(page)).toEqual([]);
    }
  });
});
