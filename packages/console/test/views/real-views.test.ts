import { chromiumProgram, openChromium, realServer, type ServerWithViews } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../page/support/console-window.ts";
import { allowAll } from "../state/scene.ts";
import { press as pressIn, type ViewWindow, viewWindow } from "./support/view-window.ts";

const subject = "views in the console";

let browser: Browser;
let close = async (): Promise<void> => {};
beforeAll(async () => {
  const opened = await openChromium(subject);
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

interface Sample {
  readonly server: ServerWithViews;
  readonly tool: string;
  /** Uses the view, and waits for what happens then. */
  readonly use: (here: ViewWindow) => Promise<void>;
}

const callsOfView = ({ scene }: ViewWindow): readonly string[] =>
  scene.events.flatMap((event) =>
    event.type === "call" && event.call.from.startsWith("view of ") && event.call.state === "ok"
      ? [event.call.name]
      : [],
  );

const samples: readonly Sample[] = [
  {
    server: "budget-allocator",
    tool: "get-budget-data",
    async use(here) {
      const view = await here.view();
      const slider = view.locator("input[type=range]").first();
      await slider.waitFor();
      const before = await view.locator("body").innerText();
      await slider.fill("40");
      await expect.poll(() => view.locator("body").innerText()).not.toBe(before);
    },
  },
  {
    server: "system-monitor",
    tool: "get-system-info",
    async use(here) {
      await here.view();
      const polls = (): number => callsOfView(here).filter((name) => name === "poll-system-stats").length;
      await expect.poll(polls, { timeout: 20_000 }).toBeGreaterThan(1);
    },
  },
  {
    server: "debug",
    tool: "debug-tool",
    async use(here) {
      const view = await here.view();
      const press = (name: string): Promise<void> => view.getByRole("button", { name, exact: true }).click();
      const { page } = here;
      await press("info");
      await page.getByText(/Log of the view/).waitFor();
      await press("Send Text");
      await page.getByRole("heading", { name: "The view wants to send a message as you" }).waitFor();
      await pressIn(page, "Yes, while this view is open");
      await page.locator(".view-note", { hasText: "message" }).waitFor();
      await press("Update (Text)");
      await page.getByRole("heading", { name: "The view wants to tell a model something" }).waitFor();
      await pressIn(page, "Yes, while this view is open");
      await page.locator(".view-note", { hasText: "context" }).waitFor();
      await press("Call debug-tool");
      await expect.poll(() => callsOfView(here), { timeout: 20_000 }).toContain("debug-tool");
    },
  },
];

if (chromiumProgram === undefined) await openChromium(subject);

describe.runIf(chromiumProgram !== undefined)("a view of a published server in the console", () => {
  test.each(samples)(
    "$server: is asked about, is shown, and works",
    async ({ server, tool, use }) => {
      await using here = await viewWindow(browser, {
        servers: { [server]: realServer(server, "--stdio") },
        rules: allowAll,
      });
      await here.call(server, tool);
      await here.openTab();
      await here.page.getByRole("heading", { name: `Show the view of ${server}?` }).waitFor();
      expect(await axeViolations(here.page)).toEqual([]);
      await here.allow();
      await use(here);
      expect(await axeViolations(here.page)).toEqual([]);
      expect(here.complaints).toEqual([]);
      const foreign = here.requests.filter(
        (url) => !url.startsWith(here.origin) && !url.startsWith(here.frames.origin),
      );
      expect(foreign.filter((url) => /^(?:https?|wss?):/.test(url))).toEqual([]);
    },
    60_000,
  );
});
