import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromiumProgram, openChromium } from "@fairlead/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallRow } from "../../../src/protocol/rows.ts";
import type { ToolRow } from "../../../src/protocol/tools.ts";
import { ScriptedSource } from "../support/scripted-source.ts";
import { servePage } from "../support/served-page.ts";

let browser: Browser;
let close = async (): Promise<void> => {};

beforeAll(async () => {
  const opened = await openChromium("views of tools");
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium("views of tools");

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function toolRow(server: string, tool: string, changes: Partial<ToolRow> = {}): ToolRow {
  const texts = { name: tool, description: `What ${tool} does.` };
  return { server, tool, ...texts, tokens: 120, decision: "ask", isChanged: false, isForViews: false, ...changes };
}

const tools = [
  toolRow("files", "write_file", { description: "Writes a file.\n\nUse with \u202ecare." }),
  toolRow("files", "read_file", { decision: "allow" }),
  toolRow("db", "query", { isChanged: true }),
  toolRow("view", "poll", { isForViews: true }),
];
const inputSchema = {
  type: "object",
  required: ["path", "target"],
  properties: {
    path: { type: "string", title: "Path", description: "Where the file is." },
    points: {
      type: "array",
      items: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
    },
    labels: { type: "object", additionalProperties: { type: "string" } },
    target: {
      oneOf: [
        {
          title: "A file",
          properties: { kind: { const: "file" }, name: { type: "string" } },
          required: ["kind", "name"],
        },
        { title: "An address", properties: { kind: { const: "url" }, href: { type: "string" } }, required: ["kind"] },
      ],
    },
  },
};
/** An image of 10 × 10 pixels. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9QzwAEjDAGNzYAAAB5CAIB3fT4jAAAAABJRU5ErkJggg==";
const hostileMarkdown = [
  "# Written",
  "- one",
  "[safe](https://example.org/a) [odd](javascript:alert(1))",
  "<img src=http://127.0.0.1:9/x onerror=alert(1)><script>alert(1)</script><style>*{display:none}</style>",
  "<form action=http://127.0.0.1:9><input></form><iframe src=http://127.0.0.1:9></iframe>",
].join("\n");

/** A host that answers calls at once. */
function source(): ScriptedSource {
  const scripted: ScriptedSource = new ScriptedSource(
    {},
    {
      "tools/list": () => ({ tools }),
      "tools/search": () => ({ found: [{ server: "db", tool: "query", score: 3 }] }),
      "tools/show": ({ tool }) => ({ tool: tools.find((each) => each.tool === tool) ?? toolRow("", ""), inputSchema }),
      "tools/decide": () => ({
        decision: "ask",
        because: "the rule for destructive tools asks",
        ruleAt: "policy.toml:12",
        problems: [],
      }),
      "calls/tool": ({ call: id, server, tool: name }) => {
        const begun: CallRow = { id, startedAt: 1, server, kind: "tool", name, from: "console", state: "running" };
        scripted.emit({ type: "call", call: begun });
        scripted.emit({ type: "call", call: { ...begun, endedAt: 41, state: "ok" } });
        return {};
      },
      "calls/result": () => ({
        warnings: [],
        durationMs: 40,
        result: {
          content: [
            { type: "text", text: hostileMarkdown },
            { type: "image", mimeType: "image/png", bytes: 78 },
            { type: "resource_link", uri: "file:///plan.md", name: "plan.md" },
          ],
          structuredContent: { written: true },
        },
      }),
      "calls/blob": () => ({ type: "image/png", base64: png }),
      "traffic/list": () => ({ frames: [] }),
    },
  );
  return scripted;
}

async function openTools(address: string, hash: string, options: { readonly width?: number } = {}) {
  const context = await browser.newContext({ viewport: { width: options.width ?? 1280, height: 800 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  const { origin } = new URL(address);
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("blob:")) foreign.push(request.url());
  });
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goto(new URL(hash, page.url()).href);
  return { page, complaints, foreign, [Symbol.asyncDispose]: () => context.close() };
}

async function violations(page: Page): Promise<readonly string[]> {
  // The page's policy allows no script of others; the debugger evaluates it.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }> };
    };
    const { violations: found } = await checker.run();
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
  });
}

describe.runIf(chromiumProgram !== undefined)("the views of tools in Chromium", () => {
  test("a person finds a tool, fills the form with the keyboard, calls it, and reads result, image and structured content", async () => {
    const host = source();
    await using served = await servePage(host);
    await using opened = await openTools(served.address(), "#/tools");
    const { page } = opened;
    await page.getByRole("searchbox", { name: "Search the tools" }).fill("question the database");
    await page.getByRole("table", { name: "Tools that fit" }).getByRole("link", { name: "db.query" }).waitFor();
    await page.getByRole("searchbox", { name: "Search the tools" }).fill("");
    await page.getByRole("link", { name: "write_file" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Path").fill("/plan.md");
    await page.keyboard.press("Control+Enter");
    // The name of the target is missing.
    await page.locator("[aria-invalid=true]:focus").waitFor();
    await page.keyboard.type("plan");
    await page.getByRole("button", { name: "Add points", exact: true }).press("Enter");
    await page.getByLabel("x").fill("1.5");
    await page.keyboard.press("Control+Enter");
    const image = page.locator("img.block-image");
    await image.waitFor();
    expect(await page.evaluate("document.querySelector('img.block-image').naturalWidth")).toBe(10);
    await page.getByRole("tab", { name: "Structured" }).click();
    await page.getByText("written").first().waitFor();
    expect(host.commands.find(([verb]) => verb === "calls/tool")?.[1]).toMatchObject({
      server: "files",
      tool: "write_file",
      args: { path: "/plan.md", target: { kind: "file", name: "plan" }, points: [{ x: 1.5 }] },
    });
    expect(opened.complaints).toEqual([]);
  });

  test("the form and the JSON text show the same values", async () => {
    await using served = await servePage(source());
    await using opened = await openTools(served.address(), "#/tools/files/write_file");
    const { page } = opened;
    await page.getByLabel("Path").fill("/a");
    await page.getByRole("tab", { name: "JSON" }).click();
    const text = page.getByRole("textbox", { name: "Arguments as JSON" });
    expect(JSON.parse(await text.inputValue())).toEqual({ path: "/a", target: { kind: "file" } });
    await text.fill('{"path":"/b","target":{"kind":"url","href":"u"},"labels":{"k":"v"}}');
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await page.getByLabel("Path").inputValue()).toBe("/b");
    expect(await page.getByLabel("href").inputValue()).toBe("u");
    expect(await page.getByLabel("Value of k").inputValue()).toBe("v");
    await page.getByRole("tab", { name: "JSON" }).click();
    await text.fill("{");
    await page.getByText("is not JSON").waitFor();
  });

  test("markdown of a server becomes text, lists and links to the web, and requests nothing", async () => {
    await using served = await servePage(source());
    await using opened = await openTools(
      served.address(),
      '#/tools/files/write_file?args={"path":"/a","target":{"kind":"url"}}',
    );
    const { page, foreign, complaints } = opened;
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Formatted" }).click();
    const markdown = page.locator(".markdown");
    await markdown.locator("li").waitFor();
    expect(await markdown.locator("img, script, style, form, input, iframe, [style], [id]").count()).toBe(0);
    expect(
      await markdown.locator("a[href]").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(["https://example.org/a"]);
    expect(foreign).toEqual([]);
    expect(complaints.filter((line) => line.startsWith("dialog"))).toEqual([]);
  });

  test.each([1280, 360])("axe finds nothing to complain about, %d pixels wide", async (width) => {
    await using served = await servePage(source());
    await using opened = await openTools(served.address(), "#/tools", { width });
    const { page } = opened;
    await page.getByText("write_file").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(
      new URL('#/tools/files/write_file?args={"path":"/a","target":{"kind":"url"},"points":[{}]}', page.url()).href,
    );
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator("[aria-invalid=true]").first().waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });
});
