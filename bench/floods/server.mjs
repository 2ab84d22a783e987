// A server that floods after its tool `flood` is called: `node server.mjs MODE` on stdio, `node server.mjs http-MODE` over HTTP.
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [mode = ""] = process.argv.slice(2);
const megabyte = 1024 * 1024;
const message = (body) => `${JSON.stringify({ jsonrpc: "2.0", ...body })}\n`;
const filled = (line) => Buffer.from(line.repeat(Math.max(1, Math.ceil((256 * 1024) / line.length))));
const event = (body) => `data: ${message(body)}\n`;
const logged = { method: "notifications/message", params: { level: "info", data: "all work and no play" } };
const changed = { method: "notifications/tools/list_changed" };

/** Stands for a few megabytes of empty objects, which take twenty times as much memory. */
const dense = "(dense)";
const denseJson = (count) => `[${"{},".repeat(count)}{}]`;

/** The text that is written repeatedly: to stderr, to stdout, or into the GET stream. */
const floods = {
  "stderr-short": [2, "x\n"],
  "stderr-lines": [2, `${"all work and no play ".repeat(5)}\n`],
  "stderr-endless": [2, "all work and no play "],
  "stdout-blank": [1, "\n"],
  "stdout-garbage": [1, "all work and no play\n"],
  "stdout-half-json": [1, '{"jsonrpc":"2.0","method":\n'],
  "stdout-large-garbage": [1, `${"all work and no play ".repeat(50_000)}\n`],
  requests: [1, message({ id: "p", method: "ping" })],
  "unknown-requests": [1, message({ id: "s", method: "sampling/createMessage", params: { messages: [] } })],
  "list-changed": [1, message(changed)],
  progress: [1, message({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } })],
  logging: [1, message(logged)],
  responses: [1, message({ id: 1_000_000, result: {} })],
  "large-requests": [1, message({ id: "l", method: "sampling/createMessage", params: { text: "x".repeat(megabyte) } })],
  batches: [1, `[${Array.from({ length: 10_000 }, () => JSON.stringify({ jsonrpc: "2.0", ...changed })).join()}]\n`],
  "dense-messages": [1, message({ method: "n", params: {} }).replace("{}", () => `{"list":${denseJson(1_300_000)}}`)],
  "http-comments": ["http", ":\n"],
  "http-blank": ["http", "\n"],
  "http-events": ["http", event(changed)],
  "http-logging": ["http", event(logged)],
  "http-half-json": ["http", "data: {\n\n"],
  "http-ids": ["http", "id: 1\n\n"],
};

const tool = (name, description = "") => ({ name, description, inputSchema: { type: "object" } });
const filler = "This tool does a great many things. ";

/** Lists that are larger than any client can use. */
function listed({ cursor = "0" }) {
  const page = Number(cursor);
  if (mode === "catalog-pages") {
    const tools = Array.from({ length: 100 }, (_, at) => tool(`tool-${page}-${at}`, filler.repeat(570)));
    return { tools, ...(page < 99 && { nextCursor: String(page + 1) }) };
  }
  if (mode === "catalog-large-pages") {
    const tools = Array.from({ length: 100 }, (_, at) => tool(`tool-${page}-${at}`, filler.repeat(4_000)));
    return { tools, ...(page < 99 && { nextCursor: String(page + 1) }) };
  }
  if (mode === "catalog-one-page")
    return { tools: Array.from({ length: 3_000 }, (_, at) => tool(`tool-${at}`, filler.repeat(550))) };
  if (mode === "catalog-dense")
    return { tools: [{ ...tool("dense"), list: Array.from({ length: 15_000_000 }, () => 0) }] };
  if (mode === "catalog-dense-pages")
    return { tools: [tool(`tool-${page}`), { ...tool("dense"), list: dense }], nextCursor: String(page + 1) };
  if (mode === "catalog-small-tools") {
    const tools = Array.from({ length: 200_000 }, (_, at) => tool(`tool-${page}-${at}`));
    return { tools, nextCursor: String(page + 1) };
  }
  return { tools: [tool("flood")] };
}

const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "flood", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": (params) => listed(params),
  "tools/call": () => ({ content: [] }),
};

function answer({ id, method, params = {} }) {
  const found = Object.hasOwn(answers, method) ? answers[method] : undefined;
  const result = found ? { result: found(params) } : { error: { code: -32601, message: "unknown" } };
  return message({ id, ...result }).replace(`"${dense}"`, () => denseJson(1_600_000));
}

function serveStdio() {
  const [descriptor, line] = floods[mode] ?? [];
  const text = line && filled(line);
  const write = () => {
    writeSync(descriptor, text);
    setImmediate(write);
  };
  createInterface({ input: process.stdin })
    .on("line", (received) => {
      const request = JSON.parse(received);
      if (request.id === undefined || request.method === undefined) return;
      const reply = Buffer.from(answer(request));
      for (let at = 0; at < reply.length; ) at += writeSync(1, reply, at);
      if (request.method === "tools/call" && text) write();
    })
    .on("close", () => process.exit());
}

function serveHttp() {
  const text = filled(floods[mode][1]);
  let stream;
  const write = () => {
    if (stream?.writable) while (stream.write(text));
  };
  createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      stream = response.on("drain", write);
      return;
    }
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const received = body === "" ? {} : JSON.parse(body);
      if (received.id === undefined || received.method === undefined) return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" }).end(answer(received));
      if (received.method === "tools/call") write();
    });
  }).listen(0, "127.0.0.1", function () {
    process.stdout.write(`http://127.0.0.1:${this.address().port}/mcp\n`);
  });
}

if (mode.startsWith("http-")) serveHttp();
else serveStdio();
