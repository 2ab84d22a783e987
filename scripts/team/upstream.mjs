// A demo MCP server over HTTP, behind the gateway: it greets, and it says how often it was called.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const version = "2026-07-28";
const cached = { ttlMs: 60_000, cacheScope: "public" };
const tools = [
  {
    name: "greet",
    description: "Greets somebody",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    annotations: { readOnlyHint: true },
  },
  {
    name: "count",
    description: "Says how often this server was called",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
];

export async function startUpstream() {
  let calls = 0;
  const results = {
    "server/discover": () => ({
      supportedVersions: [version],
      capabilities: { tools: {} },
      serverInfo: { name: "demo", version: "1" },
      ...cached,
    }),
    "tools/list": () => ({ tools, ...cached }),
    "tools/call": ({ name, arguments: given }) => {
      calls += 1;
      const words = name === "greet" ? `Hello, ${given.name}!` : `This server was called ${calls} times.`;
      return { content: [{ type: "text", text: words }] };
    },
  };
  async function answer(request, response) {
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request));
    if (id === undefined) return response.writeHead(202).end();
    const result = Object.hasOwn(results, method) ? { resultType: "complete", ...results[method](params) } : undefined;
    const outcome = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response.writeHead(result ? 200 : 404, { "content-type": "application/json" });
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
