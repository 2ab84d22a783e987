/** A legacy HTTP server that keeps a note for each of its sessions: whoever shares a session sees the note. */

import { randomUUID } from "node:crypto";
import { webServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { objectOf, parseJson } from "@fairlead/wire/json";

const schema = { type: "object", properties: { text: { type: "string" } } };

export async function notesServer(): Promise<{ readonly url: string } & AsyncDisposable> {
  const notes = new Map<string, string[]>();
  const server = await webServer(({ method: verb, body, headers }, response) => {
    const message = objectOf(parseJson(body));
    const { id, method } = message;
    if (verb !== "POST" || id === undefined) {
      response.writeHead(verb === "GET" ? 405 : 202).end();
      return;
    }
    const answer = (content: JsonObject, more: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(200, { "content-type": "application/json", ...more });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...content }));
    };
    const own = notes.get(String(headers["mcp-session-id"])) ?? [];
    if (method === "initialize") {
      const session = randomUUID();
      notes.set(session, []);
      const serverInfo = { name: "notes", version: "1.0.0" };
      answer(
        { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } },
        { "mcp-session-id": session },
      );
    } else if (method === "tools/list")
      answer({ result: { tools: ["keep", "show"].map((name) => ({ name, inputSchema: schema })) } });
    else if (method === "tools/call") {
      const { name, arguments: args } = objectOf(message["params"]);
      if (name === "keep") own.push(String(objectOf(args)["text"]));
      answer({ result: { content: [{ type: "text", text: own.join(",") }] } });
    } else answer(method === "ping" ? { result: {} } : { error: { code: -32601, message: "no such method" } });
  });
  return { url: `${server.origin}/mcp`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
