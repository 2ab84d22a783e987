/** A legacy HTTP server whose tool `grow` adds a tool, and which tells that only to the session that called it. */

import { webServer } from "@fairlead/test-servers";
import { objectOf, parseJson } from "@fairlead/wire/json";

export async function growingServer(): Promise<{ readonly url: string } & AsyncDisposable> {
  const tools = [{ name: "grow", inputSchema: { type: "object" } }];
  const server = await webServer(({ method: verb, body }, response) => {
    const { id, method } = objectOf(parseJson(body));
    if (verb !== "POST" || id === undefined) {
      response.writeHead(verb === "GET" ? 405 : 202).end();
      return;
    }
    const result = (): object => {
      switch (method) {
        case "initialize":
          return {
            protocolVersion: "2025-11-25",
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: "growing", version: "1.0.0" },
          };
        case "tools/list":
          return { tools };
        case "tools/call":
          tools.push({ name: `grown_${tools.length}`, inputSchema: { type: "object" } });
          return { content: [{ type: "text", text: "grown" }] };
        default:
          return {};
      }
    };
    const known = ["initialize", "tools/list", "tools/call", "ping"].includes(String(method));
    const answer = known ? { result: result() } : { error: { code: -32601, message: "no such method" } };
    const events = [
      ...(method === "tools/call" ? [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }] : []),
      { jsonrpc: "2.0", id, ...answer },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  return { url: `${server.origin}/mcp`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
