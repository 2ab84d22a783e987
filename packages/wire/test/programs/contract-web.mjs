/** The contract server on HTTP: one address for each era, and one for the older HTTP+SSE. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { createContractServer } from "./contract-features.mjs";

/** Resolves with the origin once it listens. */
export async function serveWeb() {
  const modern = createMcpHandler(() => createContractServer(modern.notify), { legacy: "reject" });
  const legacy = createLegacyHandler();
  const streams = createSseHandler();
  // 0: the server never closes an idle connection. On a busy machine, one can be idle for longer than the default, 5 s.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/sse" || pathname === "/messages") void streams(request, response);
    else if (pathname === "/modern") void answer(request, response, modern.fetch);
    else void answer(request, response, legacy);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** A transport and a server for each session. */
function createLegacyHandler() {
  const sessions = new Map();
  return async (request) => {
    const known = sessions.get(request.headers.get("mcp-session-id"));
    if (known) return known.handleRequest(request);
    if (request.headers.has("mcp-session-id")) return new Response("no such session", { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createContractServer().connect(transport);
    return transport.handleRequest(request);
  };
}

/** Between Node's requests and those of the SDK, which come from the web. */
async function answer(incoming, outgoing, handle) {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const hasBody = incoming.method === "POST";
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method,
    headers: incoming.headers,
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: "half" }),
  });
  try {
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else
      Readable.fromWeb(response.body)
        .on("error", () => outgoing.destroy())
        .pipe(outgoing);
  } catch {
    // The client has gone before there was an answer.
    outgoing.destroy();
  }
}

/** The SDK serves HTTP+SSE no more; the little that it takes is here. */
function createSseHandler() {
  const sessions = new Map();
  return async (incoming, outgoing) => {
    const url = new URL(incoming.url, "http://localhost");
    if (incoming.method === "GET") {
      const id = randomUUID();
      const transport = {
        start: async () => {},
        send: async (message) => void outgoing.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
        close: async () => void outgoing.end(),
      };
      sessions.set(id, transport);
      outgoing.once("close", () => {
        sessions.delete(id);
        transport.onclose?.();
      });
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      await createContractServer().connect(transport);
      outgoing.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
    } else {
      const chunks = await incoming.toArray();
      const transport = sessions.get(url.searchParams.get("session"));
      outgoing.writeHead(transport ? 202 : 404).end();
      transport?.onmessage?.(JSON.parse(Buffer.concat(chunks).toString()));
    }
  };
}
