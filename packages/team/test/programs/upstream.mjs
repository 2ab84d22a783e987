/*
 * A server behind the gateway, with one tool that answers after some milliseconds and keeps a book: how often each call
 * was executed, by its argument `id`. Prints its address. `GET /book` returns the book as lines `ID TIMES`.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const delay = Number(process.argv[2] ?? 5);
const book = new Map();
const version = "2026-07-28";
const meta = { ttlMs: 3_600_000, cacheScope: "public" };
const serverInfo = { name: "upstream", version: "1" };
const tool = {
  name: "work",
  description: "Notes that it was called",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
const results = {
  "server/discover": { supportedVersions: [version], capabilities: { tools: {} }, serverInfo, ...meta },
  "tools/list": { tools: [tool], ...meta },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};

async function take(request, response) {
  if (request.method === "GET") {
    response.end([...book].map(([id, times]) => `${id} ${times}\n`).join(""));
    return;
  }
  const { id, method, params } = JSON.parse(await text(request));
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const send = () => {
    const result = results[method];
    const outcome = result
      ? { result: { resultType: "complete", ...result } }
      : { error: { code: -32601, message: "?" } };
    response.writeHead(result ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  };
  if (method !== "tools/call") return send();
  const { id: call } = params.arguments;
  book.set(call, (book.get(call) ?? 0) + 1);
  setTimeout(send, delay);
}

const server = createServer((request, response) => void take(request, response));
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", 4096, () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
process.stdin.resume().on("end", () => process.exit());
