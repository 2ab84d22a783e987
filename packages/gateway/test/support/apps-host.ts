/**
 * A host of MCP Apps in Chromium: the official `AppBridge` in a page, and a proxy page on another origin that holds the
 * frame of the view, as the specification demands.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { viewAddressesOf } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { buildSync } from "esbuild";
import type { Browser, Frame } from "playwright-core";

/** An MCP client, direct or through the gateway. */
export interface AppsClient {
  request(method: string, params?: JsonObject): Promise<JsonObject>;
}

/** An open view. */
export interface OpenView extends AsyncDisposable {
  readonly frame: Frame;
  /** The requests that the view has sent through its host, oldest first. */
  readonly requests: readonly string[];
  /** Errors of the pages. */
  readonly complaints: readonly string[];
}

export interface AppsHost extends AsyncDisposable {
  /** Calls the tool, opens its view and gives the view the result. Resolves when the view is initialized. */
  open(client: AppsClient, tool: string): Promise<OpenView>;
}

const viewType = "text/html;profile=mcp-app";

/** Relays messages between the host's page and the view, whose frame has no origin. */
const proxyPage = `<!doctype html><title>proxy</title><style>html, body, iframe { height: 100%; width: 100%; margin: 0; border: 0 }</style>
<script>
let view;
addEventListener("message", ({ source, data }) => {
  if (source === view?.contentWindow) return parent.postMessage(data, "*");
  if (source !== parent) return;
  if (data.method !== "ui/notifications/sandbox-resource-ready") return view?.contentWindow.postMessage(data, "*");
  view = document.createElement("iframe");
  view.title = "view";
  view.setAttribute("sandbox", data.params.sandbox);
  view.srcdoc = data.params.html;
  document.body.append(view);
});
addEventListener("DOMContentLoaded", () =>
  parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*"));
</script>`;

const bridge = fileURLToPath(import.meta.resolve("@modelcontextprotocol/ext-apps/app-bridge"));

const hostPage = (proxy: string): string => `
import { AppBridge, PostMessageTransport } from ${JSON.stringify(bridge)};
globalThis.openView = async (html, input, result) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.style = "width: 900px; height: 700px";
  const ready = new Promise((resolve) => addEventListener("message", ({ source, data }) => {
    if (source === frame.contentWindow && data.method === "ui/notifications/sandbox-proxy-ready") resolve();
  }));
  frame.src = ${JSON.stringify(proxy)};
  document.body.append(frame);
  await ready;
  const capabilities = { serverTools: {}, serverResources: {}, openLinks: {}, logging: {}, message: {}, updateModelContext: {} };
  const hostContext = { theme: "light", displayMode: "inline", locale: "en", timeZone: "UTC" };
  const bridge = new AppBridge(null, { name: "test", version: "1.0.0" }, capabilities, { hostContext });
  const ask = (method) => (params) => globalThis.askServer(method, params);
  bridge.oncalltool = ask("tools/call");
  bridge.onreadresource = ask("resources/read");
  bridge.onlistresources = ask("resources/list");
  bridge.onmessage = async () => ({});
  bridge.onopenlink = async () => ({});
  bridge.onupdatemodelcontext = async () => ({});
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await bridge.sendSandboxResourceReady({ html, sandbox: "allow-scripts allow-forms" });
  await initialized;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
};`;

async function serve(page: string): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts the host. The pages are on different origins: one at an address, one at a name. */
export async function appsHost(browser: Browser): Promise<AppsHost> {
  const proxy = await serve(proxyPage);
  // `build` would leave a process behind.
  const { outputFiles } = buildSync({
    stdin: {
      contents: hostPage(`http://localhost:${proxy.port}/`),
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    format: "iife",
    platform: "browser",
    write: false,
  });
  const script = (outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script");
  const host = await serve(`<!doctype html><title>host</title><body><script>${script}</script></body>`);
  return {
    async open(client, tool) {
      const { tools } = await client.request("tools/list");
      const listed = (tools as readonly JsonObject[]).find(({ name }) => name === tool);
      const uri = viewAddressesOf(listed ?? {})[0];
      const result = await client.request("tools/call", { name: tool, arguments: {} });
      const { contents } = await client.request("resources/read", { uri });
      const [content] = contents as readonly { readonly text: string; readonly mimeType: string }[];
      if (content?.mimeType !== viewType) throw new Error(`no view: ${JSON.stringify(content).slice(0, 200)}`);
      const context = await browser.newContext({ viewport: { width: 1000, height: 800 } });
      const page = await context.newPage();
      const requests: string[] = [];
      const complaints: string[] = [];
      page.on("pageerror", ({ message }) => complaints.push(message));
      await page.exposeFunction("askServer", async (method: string, params: JsonObject) => {
        requests.push([method, params["name"] ?? params["uri"]].join(" "));
        return client.request(method, params);
      });
      await page.goto(`http://127.0.0.1:${host.port}/`);
      await page.evaluate(
        ([html, given, answer]) =>
          (globalThis as unknown as { openView(...view: unknown[]): Promise<void> }).openView(html, given, answer),
        [content.text, {}, result] as const,
      );
      const frame = page.frames().find((each) => each.parentFrame()?.parentFrame() === page.mainFrame());
      if (frame === undefined) throw new Error("the view has no frame");
      return { frame, requests, complaints, [Symbol.asyncDispose]: () => context.close() };
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      host.close();
    },
  };
}
