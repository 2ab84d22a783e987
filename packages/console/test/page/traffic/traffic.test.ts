import { chromiumProgram, openChromium } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FrameHead } from "../../../src/protocol/rows.ts";
import { ScriptedSource } from "../support/scripted-source.ts";
import { servePage } from "../support/served-page.ts";

let browser: Browser;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("traffic");
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("traffic");

/** A request and its response. */
function exchange(id: number, server = "files"): readonly FrameHead[] {
  const common = { at: 1_000 + id, server, method: "tools/call", rpcId: id, bytes: 120 };
  return [
    { ...common, id, direction: "out", kind: "request" },
    { ...common, id: id + 1, direction: "in", kind: "response", answers: id, took: 12 },
  ];
}

function source(frames: readonly FrameHead[]): ScriptedSource {
  return new ScriptedSource(
    {},
    {
      "traffic/list": () => ({ frames }),
      "traffic/body": ({ id }) => ({ text: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call\u202e" }) }),
    },
  );
}

async function openTraffic(address: string, query = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goto(new URL(`#/traffic${query}`, page.url()).href);
  await page.getByRole("log").waitFor();
  return { page, [Symbol.asyncDispose]: () => context.close() };
}

describe.runIf(chromiumProgram !== undefined)("traffic in Chromium", () => {
  test("a message shows its body on demand, and leads to its response and back", async () => {
    const host = source([...exchange(1), ...exchange(3, "db")]);
    await using served = await servePage(host);
    await using opened = await openTraffic(served.address());
    const { page } = opened;
    expect(host.commands.filter(([verb]) => verb === "traffic/body")).toEqual([]);
    await page.getByRole("log").getByRole("link").first().click();
    const panel = page.getByRole("complementary", { name: "Message" });
    await panel.getByText(/202e/i).first().waitFor();
    await panel.getByRole("link", { name: "show the response" }).click();
    await panel.getByText("from the server").waitFor();
    await panel.getByRole("link", { name: "show the request" }).click();
    await panel.getByText("to the server").waitFor();
    await page.keyboard.press("Escape");
  });

  test("10 000 messages are one list of few elements; paused, it stays; then it goes on without a gap", async () => {
    const many = Array.from({ length: 5000 }, (_, at) => exchange(at * 2 + 1)).flat();
    const host = source(many);
    await using served = await servePage(host);
    await using opened = await openTraffic(served.address());
    const { page } = opened;
    await page.getByText("10000 messages").waitFor();
    expect(await page.getByRole("log").getByRole("link").count()).toBeLessThan(100);
    await page.getByRole("button", { name: "Pause" }).click();
    host.emit({ type: "frames", frames: exchange(10_001) });
    await page.getByRole("button", { name: "Continue (2 new)" }).waitFor();
    await page.getByText("10000 messages").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("10002 messages").waitFor();
    // The newest message is in view.
    await page.getByRole("log").getByRole("link").last().getByText("10001").waitFor();
    // Wherever a person scrolls, the rows are there, in order, and each once.
    const log = page.getByRole("log");
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      await log.evaluate((element, at) => {
        element.scrollTop = at * (element.scrollHeight - element.clientHeight);
      }, part);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      const rows = await log.evaluate((element) => {
        const box = element.getBoundingClientRect();
        return [...element.querySelectorAll(".virtual-row")]
          .map((row) => row.getBoundingClientRect())
          .filter(({ bottom, top }) => bottom > box.top + 1 && top < box.bottom - 1)
          .map(({ top, bottom }) => ({ top, bottom }));
      });
      expect(rows.length).toBeGreaterThan(10);
      const gaps = rows.slice(1).map(({ top }, at) => Math.round(top - (rows[at]?.bottom ?? 0)));
      expect([part, ...new Set(gaps)]).toEqual([part, 0]);
    }
  });

  test("the address has the filter", async () => {
    await using served = await servePage(source([...exchange(1), ...exchange(3, "db")]));
    await using opened = await openTraffic(served.address(), "?search=db");
    await opened.page.getByText("2 messages").waitFor();
    await opened.page.getByRole("button", { name: "errors" }).click();
    await opened.page.getByText("No message fits the filter").waitFor();
    expect(opened.page.url()).toContain("kind=errors");
  });
});
