// A server of the modern era, made with the official library; argument "serve" or "reject": what it does with the legacy era.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const inputSchema = fromJsonSchema({ type: "object", properties: { message: { type: "string" } } });

function createServer() {
  const server = new McpServer({ name: "modern", version: "1.0.0" });
  server.registerTool("echo", { description: "Echo", inputSchema }, async ({ message }) => ({
    content: [{ type: "text", text: message }],
  }));
  return server;
}

serveStdio(createServer, { legacy: process.argv[2] ?? "serve" });
