/** An HTTP server behind the gateway that counts what it runs: the second of three independent books. */

import { webServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { parseJson } from "@fairlead/wire/json";

export interface CountingServer extends AsyncDisposable {
  readonly url: string;
  /** The ids of the calls that ran, in their order. */
  readonly executed: readonly string[];
  /** The `authorization` headers that it got. */
  readonly authorizations: ReadonlySet<string>;
}

const tool = {
  name: "count",
  description: "Counts a call.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};

const results: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "counting", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
};

/** @param delay How many milliseconds a call takes. */
export async function countingServer(delay = 5): Promise<CountingServer> {
  const executed: string[] = [];
  const authorizations = new Set<string>();
  const server = await webServer(({ method: verb, body, headers }, response) => {
    authorizations.add(String(headers.authorization));
    const message = parseJson(body) as JsonObject | undefined;
    if (verb !== "POST" || message?.["id"] === undefined)
      return void response.writeHead(verb === "POST" ? 202 : 405).end();
    const { id, method, params = {} } = message;
    const answer = (content: JsonObject): void => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...content }));
    };
    if (method === "tools/call") {
      const { arguments: args } = params as { readonly arguments: { readonly id: string } };
      executed.push(args.id);
      setTimeout(() => answer({ result: { content: [{ type: "text", text: args.id }] } }), delay);
    } else if (typeof method === "string" && Object.hasOwn(results, method))
      answer({ result: results[method]?.(params as JsonObject) });
    else answer({ error: { code: -32601, message: "no such method" } });
  });
  return {
    url: `${server.origin}/mcp`,
    executed,
    authorizations,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
