import {
  chromiumProgram,
  openChromium,
  realServer,
  type ServerWithViews,
  stdioServer,
  temporaryFolder,
} from "@fairlead/test-servers";
import { connect, type Session } from "@fairlead/wire";
import type { Browser, Frame } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppsHost, appsHost, type OpenView } from "../support/apps-host.ts";
import { gatewayScene } from "../support/gateway-scene.ts";

const subject = "views of MCP Apps";
const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

let browser: Browser;
let host: AppsHost;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium(subject);
  if (opened === undefined) return;
  browser = opened;
  host = await appsHost(browser);
  close = async () => {
    await host[Symbol.asyncDispose]();
    await opened.close();
  };
});
afterAll(() => close());

async function direct(server: ServerWithViews): Promise<Session> {
  const { command, args } = realServer(server, "--stdio");
  const env = { PATH: process.env["PATH"] ?? "" };
  return connect(
    { kind: "stdio", command, args, env, cwd: process.cwd() },
    { clientInfo: { name: "test", version: "1.0.0" }, capabilities },
  );
}

/** The different lines of a view's text, without figures that vary. */
async function linesOf(frame: Frame): Promise<readonly string[]> {
  const text = await frame.locator("body").innerText();
  return [...new Set(text.replaceAll(/\d+([.,:]\d+)*/g, "0").split("\n"))].sort();
}

/** The elements of a view, as a tree of their names and classes. */
function structureOf(frame: Frame): Promise<string> {
  return frame.evaluate(`(function tree(element) {
    return element.tagName + "." + element.className + "(" + [...element.children].map(tree).join(" ") + ")";
  })(document.body)`);
}

interface Sample {
  readonly server: ServerWithViews;
  readonly tool: string;
  /** Does something in the view, waits for what happens then, and returns what can be compared. */
  readonly use: (view: OpenView) => Promise<unknown>;
}

const samples: readonly Sample[] = [
  {
    server: "budget-allocator",
    tool: "get-budget-data",
    async use({ frame }) {
      const sliders = frame.locator("input[type=range]");
      await sliders.first().waitFor();
      const before = await frame.locator("body").innerText();
      await sliders.first().fill("40");
      await expect.poll(() => frame.locator("body").innerText()).not.toBe(before);
      const values = await sliders.evaluateAll("(sliders) => sliders.map(({ value }) => value)");
      return [before, await frame.locator("body").innerText(), values, await structureOf(frame)];
    },
  },
  {
    server: "system-monitor",
    tool: "get-system-info",
    async use({ frame, requests }) {
      const polls = (): number => requests.filter((request) => request === "tools/call poll-system-stats").length;
      await expect.poll(polls, { timeout: 15_000 }).toBeGreaterThan(1);
      return [await structureOf(frame), [...new Set(requests)]];
    },
  },
  {
    server: "debug",
    tool: "debug-tool",
    async use({ frame, requests }) {
      const results = async (): Promise<number> =>
        (await frame.locator("body").innerText()).split("server-tool-result").length - 1;
      for (const [at, name] of [
        "Send Text",
        "info",
        "Update (Text)",
        "Call debug-tool",
        "Call debug-refresh",
      ].entries()) {
        await frame.getByRole("button", { name, exact: true }).click();
        if (at > 2) await expect.poll(results, { timeout: 15_000 }).toBeGreaterThan(at - 3);
      }
      return [await linesOf(frame), [...new Set(requests)].sort()];
    },
  },
];

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium(subject);

describe.runIf(chromiumProgram !== undefined)("an Apps host in Chromium", () => {
  test.each(samples)(
    "shows the view of $server as without the gateway",
    async ({ server, tool, use }) => {
      await using here = await gatewayScene({ servers: { [server]: realServer(server, "--stdio") } });
      const [alone, through] = await Promise.all([direct(server), here.client({ era: "legacy", capabilities })]);
      try {
        await using first = await host.open(alone, tool);
        await using second = await host.open(through, tool);
        const [expected, found] = await Promise.all([use(first), use(second)]);
        expect(found).toEqual(expected);
        expect([first.complaints, second.complaints]).toEqual([[], []]);
      } finally {
        await alone.close();
      }
    },
    60_000,
  );

  test("shows two servers with the same address each their own view", async () => {
    await using folder = await temporaryFolder();
    const html = (name: string): string => `<p id="own">${name}</p><p id="result"></p><script>
      const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
      addEventListener("message", ({ data }) => {
        if (data.id === 1) send({ method: "ui/notifications/initialized", params: {} });
        if (data.method === "ui/notifications/tool-result") result.textContent = data.params.content[0].text;
      });
      send({ id: 1, method: "ui/initialize", params: {
        appInfo: { name: "view", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" } });
    </script>`;
    for (const name of ["one", "two"]) await folder.write(`${name}.json`, { html: html(name) });
    const entry = (name: string): object => stdioServer("views", "legacy", `${folder.path}/${name}.json`, name);
    await using here = await gatewayScene({ servers: { one: entry("one"), two: entry("two") } as never });
    const client = await here.client({ era: "legacy", capabilities });
    for (const [tool, name] of [
      ["show", "one"],
      ["two__show", "two"],
    ] as const) {
      await using view = await host.open(client, tool);
      await view.frame.locator("#result", { hasText: /./ }).waitFor();
      const texts: readonly string[] = await view.frame.locator("p").allInnerTexts();
      expect(texts).toEqual([name, `${name} show`]);
    }
  });
});
