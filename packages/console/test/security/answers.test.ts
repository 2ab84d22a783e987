/** A question of a client that two pages answer, with a real host. */

import { stdioServer } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasChromium, useChromium } from "../page/support/console-window.ts";
import { consoleScene, ofType } from "../state/scene.ts";

const chromium = useChromium("answers in the console");

const heading = (page: Page) => page.getByRole("article").getByRole("heading").first();

describe.runIf(hasChromium)("in Chromium", () => {
  test("rule 17: of two pages that answer at once, one answer counts, and the other page says who gave it", async () => {
    await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
    const client = await scene.client();
    const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
    const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
    const outcome = client.request("tools/call", { name, arguments: { text: "it ran" } }).then(JSON.stringify, String);
    const { question } = await scene.event(ofType("question"));
    const view = `#/inbox/${question.id}`;
    await using one = await chromium.open({ source: scene.state, view });
    await using other = await chromium.open({ source: scene.state, view });
    for (const { page } of [one, other]) await page.locator(".decision-ready").waitFor();
    await Promise.all([
      one.page.getByRole("button", { name: "Yes, once", exact: true }).click(),
      other.page.getByRole("button", { name: "No", exact: true }).click(),
    ]);
    for (const { page } of [one, other]) await page.getByRole("heading", { name: /answered/i }).waitFor();
    const ran = (await outcome).includes("it ran");
    const [first, second] = ran ? [one, other] : [other, one];
    expect(await heading(first.page).textContent()).toBe("Answered");
    expect(await heading(second.page).textContent()).toMatch(/^(?:Already answered|Answered in )/);
    for (const { page } of [one, other]) {
      expect(await page.getByRole("button", { name: /^Yes|^No$/ }).count()).toBe(0);
      expect(await page.getByRole("article").textContent()).toContain(ran ? "yes" : "no");
    }
    // A page that answers even later is refused, too.
    const late = scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
    expect(
      await late.then(
        ({ isFirst }) => isFirst,
        () => false,
      ),
    ).toBe(false);
  });
});
