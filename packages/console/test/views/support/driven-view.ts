/** The HTML of a view that does what a test says: `window.ask(method, params)` sends a request to its host. */

import type { JsonObject } from "@fairlead/wire";
import type { Frame } from "playwright-core";

export function drivenView(title: string, capabilities: object = {}): string {
  return `<!doctype html><title>${title}</title><body style="margin: 0"><h1>${title}</h1><p id="ready"></p><script>
const asked = new Map();
window.got = [];
let count = 0;
window.tell = (method, params = {}) => parent.postMessage({ jsonrpc: "2.0", method, params }, "*");
window.ask = (method, params = {}) => new Promise((resolve) => {
  count += 1;
  asked.set(count, resolve);
  parent.postMessage({ jsonrpc: "2.0", id: count, method, params }, "*");
});
addEventListener("message", ({ data }) => {
  if (data.method !== undefined) window.got.push(data);
  if (data.id !== undefined && data.method === undefined) asked.get(data.id)?.(data);
  if (data.id !== undefined && data.method !== undefined)
    parent.postMessage({ jsonrpc: "2.0", id: data.id, error: { code: -32601, message: "Method not found" } }, "*");
});
window.ask("ui/initialize", {
  appInfo: { name: "test", version: "1" }, appCapabilities: ${JSON.stringify(capabilities)}, protocolVersion: "2026-01-26",
}).then((answer) => {
  window.initialized = answer.result;
  window.tell("ui/notifications/initialized");
  document.getElementById("ready").textContent = "ready";
});
</script></body>`;
}

interface RpcAnswer {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Sends a request of the view, and returns the answer. */
export function ask(view: Frame, method: string, params: JsonObject = {}): Promise<RpcAnswer> {
  return view.evaluate(`window.ask(${JSON.stringify(method)}, ${JSON.stringify(params)})`);
}

/** Waits until the view has its call. */
export async function ready(view: Frame): Promise<void> {
  await view.getByText("ready", { exact: true }).waitFor();
}
