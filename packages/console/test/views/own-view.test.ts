import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  chromiumProgram,
  openChromium,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import type { Era, JsonObject } from "@fairlead/wire";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../page/support/console-window.ts";
import { allowAll } from "../state/scene.ts";
import { ask, drivenView, ready } from "./support/driven-view.ts";
import { press, type ViewWindow, type ViewWindowOptions, viewWindow } from "./support/view-window.ts";

const subject = "a view of our own in the console";

let browser: Browser;
let close = async (): Promise<void> => {};
beforeAll(async () => {
  const opened = await openChromium(subject);
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

interface OwnWindow extends ViewWindow {
  /** What the server's view is from now on. */
  change(content: object): Promise<void>;
}

async function open(
  folder: TemporaryFolder,
  { era = "legacy", ...more }: Partial<ViewWindowOptions> & { readonly era?: Era } = {},
): Promise<OwnWindow> {
  const change = async (content: object): Promise<void> => void (await folder.write("view.json", content));
  await change({ html: drivenView("own view") });
  const servers = { own: stdioServer("views", era, join(folder.path, "view.json"), "own") };
  const rules = '[[rule]]\ntoolName = "show"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n';
  // The server lists its view only to programs that show views. It declares the extension itself.
  const here = await viewWindow(browser, { servers, rules, ...more });
  return { ...here, change };
}

/** The answer to `ui/initialize`. */
interface Initialized {
  readonly protocolVersion: string;
  readonly hostInfo: JsonObject;
  readonly hostCapabilities: JsonObject;
  readonly hostContext: { readonly styles: { readonly variables: Readonly<Record<string, string>> } };
}

async function shown(here: OwnWindow) {
  await here.call("own", "show");
  await here.openTab();
  await here.page.getByRole("heading", { name: "Show the view of own?" }).waitFor();
  await here.allow();
  const view = await here.view();
  await ready(view);
  return view;
}

if (chromiumProgram === undefined) await openChromium(subject);

describe.runIf(chromiumProgram !== undefined)("a view in the console", () => {
  test.each(["legacy", "modern"] as const)(
    "of a %s server gets its call once, and nothing of the host but looks",
    async (era) => {
      await using folder = await temporaryFolder();
      await using here = await open(folder, { era });
      const view = await shown(here);
      const got = await view.evaluate<readonly JsonObject[]>("window.got");
      expect(got).toEqual([
        { jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: {} } },
        {
          jsonrpc: "2.0",
          method: "ui/notifications/tool-result",
          params: expect.objectContaining({ content: [{ type: "text", text: "own show" }], isError: false }),
        },
      ]);
      const { hostContext, hostCapabilities, hostInfo, protocolVersion } =
        await view.evaluate<Initialized>("window.initialized");
      expect([protocolVersion, hostInfo["name"]]).toEqual(["2026-01-26", "fairlead"]);
      expect(Object.keys(hostContext).sort()).toEqual(
        (
          "availableDisplayModes containerDimensions deviceCapabilities displayMode locale platform safeAreaInsets " +
          "styles theme timeZone toolInfo"
        ).split(" "),
      );
      const { variables } = hostContext.styles;
      expect(Object.keys(variables)).toHaveLength(76);
      expect(Object.entries(variables).filter(([, value]) => value === "")).toEqual([]);
      expect(hostCapabilities["sandbox"]).toEqual({ permissions: {}, csp: {} });
      await here.page.emulateMedia({ colorScheme: "dark" });
      await expect
        .poll(() => view.evaluate("window.got.at(-1)"))
        .toMatchObject({ method: "ui/notifications/host-context-changed", params: { theme: "dark" } });
      expect(here.complaints).toEqual([]);
    },
  );

  test("calls its server's tools by the rules: the person is asked, may allow it while the view is open, and the history names the view", async () => {
    await using folder = await temporaryFolder();
    await using here = await open(folder);
    const { page, scene } = here;
    const view = await shown(here);
    const poll = { name: "poll", arguments: {} };
    const first = ask(view, "tools/call", poll);
    await page.getByRole("heading", { name: "Run own.poll?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await press(page, "No");
    expect(await first).toMatchObject({ error: { code: -32000 } });
    const second = ask(view, "tools/call", poll);
    await page.getByRole("heading", { name: "Run own.poll?" }).waitFor();
    await press(page, "Yes, this tool, until this view closes");
    expect(await second).toMatchObject({ result: { content: [{ type: "text", text: "own poll" }] } });
    expect(await ask(view, "tools/call", poll)).toMatchObject({ result: { content: [{ text: "own poll" }] } });
    await page.getByRole("button", { name: "Close the view" }).click();
    await page.getByText("The view was closed.").waitFor();
    await page.getByRole("button", { name: "Show it again" }).click();
    const again = await here.view();
    await ready(again);
    const third = ask(again, "tools/call", poll);
    await page.getByRole("heading", { name: "Run own.poll?" }).waitFor();
    await press(page, "No");
    expect(await third).toMatchObject({ error: { code: -32000 } });

    await scene.host.flushHistory();
    const state = join(scene.home, ".fairlead");
    const files = (await readdir(state, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
    const lines = (await Promise.all(files.map((name) => readFile(join(state, name), "utf8")))).join("").split("\n");
    const rows = lines.filter((line) => line !== "").map((line): JsonObject => JSON.parse(line));
    const polls = rows.filter(({ tool }) => tool === "poll");
    expect(polls.map(({ client, outcome, answer }) => [client, outcome, answer])).toEqual([
      ["view of own", "denied", undefined],
      ["view of own", "ok", "asked"],
      ["view of own", "ok", undefined],
      ["view of own", "denied", undefined],
    ]);
  });

  test("that was allowed is shown at once from then on, and a changed one is asked about with the difference", async () => {
    await using folder = await temporaryFolder();
    await using here = await open(folder);
    const { page } = here;
    await shown(here);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await ready(await here.view());
    await here.change({ html: drivenView("other view"), meta: { csp: { connectDomains: ["https://data.example"] } } });
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("The definition has changed").waitFor();
    await page.getByText("data.example").first().waitFor();
    await press(page, "Yes, once");
    const view = await here.view();
    await view.getByRole("heading", { name: "other view" }).waitFor();
    await ready(view);
    expect(await view.evaluate("window.initialized.hostCapabilities.sandbox")).toEqual({
      permissions: {},
      csp: { connectDomains: ["https://data.example"] },
    });
  });

  test("opens an address of the web only by the person's press", async () => {
    await using folder = await temporaryFolder();
    await using here = await open(folder);
    const { page, context } = here;
    await context.route("https://docs.example.com/**", (route) => route.fulfill({ body: "docs" }));
    const view = await shown(here);
    const refused = ask(view, "ui/open-link", { url: "https://docs.example.com/a?b=c" });
    await page.getByRole("heading", { name: "The view wants to open an address of the web" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // Another question meanwhile is refused, so that a view cannot replace what the person is about to press.
    expect(await ask(view, "ui/open-link", { url: "https://evil.example.com/" })).toMatchObject({
      result: { isError: true },
    });
    await press(page, "No");
    expect(await refused).toMatchObject({ result: { isError: true } });
    const allowed = ask(view, "ui/open-link", { url: "https://docs.example.com/a?b=c" });
    const opening = context.waitForEvent("page");
    await press(page, "Open docs.example.com");
    const opened = await opening;
    expect(await allowed).toMatchObject({ result: {} });
    expect(await opened.evaluate("[location.href, opener, document.referrer]")).toEqual([
      "https://docs.example.com/a?b=c",
      null,
      "",
    ]);
  });

  test("gets the full window only if it says that it can use it", async () => {
    await using folder = await temporaryFolder();
    await using here = await open(folder);
    await here.change({ html: drivenView("own view", { availableDisplayModes: ["inline", "fullscreen"] }) });
    const { page } = here;
    const view = await shown(here);
    const height = async (): Promise<number> => (await page.locator("iframe.view-frame").boundingBox())?.height ?? 0;
    await view.evaluate('window.tell("ui/notifications/size-changed", { height: 300 })');
    await expect.poll(height).toBe(300);
    await view.evaluate('window.tell("ui/notifications/size-changed", { height: 303 })');
    expect(await ask(view, "ui/request-display-mode", { mode: "fullscreen" })).toMatchObject({
      result: { mode: "fullscreen" },
    });
    await expect.poll(height).toBeGreaterThan(700);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Leave the full window" }).click();
    await expect.poll(height).toBe(300);
    await expect
      .poll(() => view.evaluate("window.got.filter(({ params }) => params.displayMode).at(-1)?.params"))
      .toEqual({ displayMode: "inline" });
    await view.evaluate('window.tell("ui/notifications/request-teardown")');
    await page.getByText("The view was closed.").waitFor();
  });

  test("is not there with views off; with views on, it is shown without a question", async () => {
    await using folder = await temporaryFolder();
    await using off = await open(folder, { era: "modern", fairlead: { servers: { own: { views: "off" } } } });
    await off.call("own", "show");
    expect(await off.page.getByRole("tab").allInnerTexts()).not.toContain("View");
    await off[Symbol.asyncDispose]();
    await using other = await temporaryFolder();
    await using on = await open(other, { fairlead: { servers: { own: { views: "on" } } } });
    await on.call("own", "show");
    await ready(await on.view());
  });

  test.each([
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)("has nothing that axe complains about: %s, %d pixels wide", async (colours, width) => {
    await using folder = await temporaryFolder();
    await using here = await open(folder, { colours, width });
    const { page } = here;
    await here.call("own", "show");
    await here.openTab();
    await page.getByRole("heading", { name: "Show the view of own?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await here.allow();
    const view = await here.view();
    await ready(view);
    expect(await axeViolations(page)).toEqual([]);
    await view.evaluate('void window.ask("tools/call", { name: "poll", arguments: {} })');
    await page.getByRole("heading", { name: "Run own.poll?" }).waitFor();
    const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(wide).toBe(0);
  });

  test("is the same to everybody with a rule that allows it", async () => {
    await using folder = await temporaryFolder();
    await using here = await open(folder, { rules: allowAll });
    const view = await shown(here);
    expect(await ask(view, "tools/call", { name: "declared", arguments: {} })).toMatchObject({
      result: { content: [{ text: expect.stringContaining("io.modelcontextprotocol/ui") }] },
    });
    const plain = await here.scene.client();
    const { content } = await plain.request("tools/call", { name: "declared", arguments: {} });
    expect(JSON.stringify(content)).not.toContain("io.modelcontextprotocol/ui");
  });
});
