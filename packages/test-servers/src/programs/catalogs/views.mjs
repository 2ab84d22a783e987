/*
 * A server with views (MCP Apps), in the era that its first argument names. It checks what its client declares: the tool
 * `show` has a view, and the tool `poll` for views only exists, if the client declares the extension; otherwise `show`
 * answers with text alone. `declared` returns the extensions that the client declares, and the trace context of the
 * request. The JSON file in its second argument has the HTML of the view, its `_meta` and its MIME type, and is read
 * again for each request; `times` repeats the HTML. The view is in no list.
 */
import { readFileSync } from "node:fs";
import { onLine, runIfMain } from "../program.mjs";

const extension = "io.modelcontextprotocol/ui";
const viewType = "text/html;profile=mcp-app";
const inputSchema = { type: "object" };

/** @param {import("../program.mjs").Io} io */
export function views({ args, input, output }) {
  const [era, file, name = "views"] = args;
  const isModern = era === "modern";
  const version = isModern ? "2026-07-28" : "2025-11-25";
  let initialized = {};
  const held = () => JSON.parse(readFileSync(file, "utf8"));
  const capabilities = { tools: {}, resources: {}, extensions: { [extension]: {} } };
  const serverInfo = { name, version: "1.0.0" };

  const answers = {
    initialize(params) {
      initialized = params.capabilities;
      return { protocolVersion: version, capabilities, serverInfo };
    },
    "server/discover": () => ({
      supportedVersions: [version],
      capabilities,
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    }),
    ping: () => ({}),
    "tools/list"(_params, extensions) {
      const { uri = "ui://p/a.html" } = held();
      const ui = { resourceUri: uri };
      const declared = { name: "declared", inputSchema };
      if (extensions?.[extension] === undefined) return { tools: [{ name: "show", inputSchema }, declared] };
      const show = { name: "show", inputSchema, _meta: { ui, "ui/resourceUri": uri } };
      const poll = { name: "poll", inputSchema, _meta: { ui: { ...ui, visibility: ["app"] } } };
      return { tools: [show, poll, declared] };
    },
    "tools/call"({ name: tool, _meta = {} }, extensions) {
      const { traceparent, tracestate, baggage } = _meta;
      const said = { extensions, traceparent, tracestate, baggage };
      return { content: [{ type: "text", text: tool === "declared" ? JSON.stringify(said) : `${name} ${tool}` }] };
    },
    "resources/list": () => ({ resources: [] }),
    "resources/read"({ uri }) {
      const { html = `<p>${name}</p>`, mimeType = viewType, times = 1, meta } = held();
      const isText = typeof html === "string";
      const content = isText ? { text: html.repeat(times) } : html;
      return { contents: [{ uri, mimeType, ...content, ...(meta && { _meta: { ui: meta } }) }] };
    },
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const own = params._meta?.["io.modelcontextprotocol/clientCapabilities"];
    const isOfEra = isModern ? method !== "initialize" : method !== "server/discover";
    const answer = isOfEra && Object.hasOwn(answers, method) ? answers[method] : undefined;
    const result = answer?.(params, (isModern ? own : initialized)?.extensions);
    const modern = { resultType: "complete", ttlMs: 60_000, cacheScope: "private" };
    const body = result
      ? { result: isModern ? { ...modern, ...result } : result }
      : { error: { code: -32601, message: `no ${method} here` } };
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  });
}

runIfMain(import.meta.url, views);
