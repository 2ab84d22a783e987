/*
 * A server of the pictures: node server.mjs NAME. It offers the catalog of this name, or fails as its name says. A file
 * `changed` in its working folder gives `sentry` its new definitions.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { catalogs, changedSentry } from "./catalogs.mjs";

const [name = ""] = process.argv.slice(2);
const failures = {
  db: () => exit(3, 'FATAL: password authentication failed for user "readonly"'),
  metrics: () => process.stderr.write("connecting to metrics.internal:9090 …\n"),
};

function exit(code, line) {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}

const catalog = Object.hasOwn(catalogs, name) ? catalogs[name] : { tools: [] };
const tools =
  name === "sentry" && existsSync(join(process.env.HOME ?? "", ".sentry-changed")) ? changedSentry : catalog.tools;

const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: {
      tools: {},
      logging: {},
      ...(catalog.prompts && { prompts: {} }),
      ...((catalog.resources ?? catalog.resourceTemplates) && { resources: {} }),
      ...(tools.some(({ _meta }) => _meta?.ui) && { extensions: { "io.modelcontextprotocol/ui": {} } }),
    },
    serverInfo: { name, version: "2.4.1" },
    ...(catalog.instructions && { instructions: catalog.instructions }),
  }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({ tools: tools.map((tool) => ({ ...tool, answer: undefined })) }),
  "prompts/list": () => ({ prompts: catalog.prompts ?? [] }),
  "resources/list": () => ({ resources: catalog.resources ?? [] }),
  "resources/templates/list": () => ({ resourceTemplates: catalog.resourceTemplates ?? [] }),
  "resources/read": ({ uri }) => ({
    contents: [
      uri.startsWith("ui://")
        ? {
            uri,
            mimeType: "text/html;profile=mcp-app",
            text: readFileSync(join(import.meta.dirname, "panel-view.html"), "utf8"),
          }
        : { uri, mimeType: "application/json", text: JSON.stringify({ title: "API overview", panels: 6 }, null, 2) },
    ],
  }),
  "prompts/get": () => ({
    messages: [{ role: "user", content: { type: "text", text: "Sort the open issues of ENG by impact." } }],
  }),
  "tools/call": ({ name: tool, arguments: args = {} }) =>
    tools.find((each) => each.name === tool)?.answer(args) ?? { content: [], isError: true },
};

if (name in failures) failures[name]();
else {
  process.stderr.write(`${name} 2.4.1 listens on stdin\n`);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const answer = answers[method];
    const body = answer
      ? { result: answer(params) }
      : { error: { code: -32601, message: `unknown method: ${method}` } };
    const say = () => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
    // Real servers need some time for a call, and each another one.
    if (method === "tools/call") setTimeout(say, 20 + ((id * 37) % 160));
    else say();
  });
}
// `metrics` never answers: it waits for a machine that does not.
if (name === "metrics") process.stdin.resume();
