/** The demo server: a whole MCP server inside this process, behind the same `Session` as any other. */

import { type JsonObject, type McpRequestOptions, type Progress, type Session, WireError } from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import { completeDemo } from "./completion.ts";
import { startDeadline } from "./deadline.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";
import type { Task } from "./task.ts";
import { callTool, listTools } from "./tools.ts";

type Handler = (params: JsonObject, task: Task) => JsonObject | Promise<JsonObject>;

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["ping", () => ({})],
  ["tools/list", listTools],
  ["tools/call", callTool],
  ["prompts/list", listPrompts],
  ["prompts/get", getPrompt],
  ["resources/list", listResources],
  ["resources/templates/list", listTemplates],
  ["resources/read", readResource],
  ["completion/complete", completeDemo],
]);

export function createDemoSession({ clock = systemClock }: { readonly clock?: Clock } = {}): Session {
  const over = new AbortController();
  const closed = new Promise<undefined>((resolve) => {
    over.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const throwIfOver = (): void => over.signal.throwIfAborted();

  async function request(
    method: string,
    params: JsonObject = {},
    options: McpRequestOptions = {},
  ): Promise<JsonObject> {
    const deadline = startDeadline(options, clock, over.signal);
    const progress = (step: Progress): void => {
      deadline.restart();
      options.onProgress?.(step);
    };
    try {
      deadline.signal.throwIfAborted();
      const handler = handlers.get(method);
      if (!handler) throw new WireError("rpc", `Method not found: ${method}`, { rpc: { code: -32601 } });
      const result = await handler(copy(params), { clock, signal: deadline.signal, progress });
      deadline.signal.throwIfAborted();
      return copy(result);
    } finally {
      deadline.clear();
    }
  }

  return {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "fairlead-demo", version: "1.0.0", title: "Fairlead's demo server" },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
    instructions: "Tools, a prompt and resources to try a host with. Nothing here touches files or the network.",
    request,
    notify: async () => throwIfOver(),
    // It has nothing to announce and nothing to ask.
    onNotification: () => () => {},
    onRequest: () => {},
    closed,
    async close() {
      over.abort(new WireError("closed", "the conversation with the demo server is over"));
    },
  };
}

/** As if it had gone over a wire: neither side can change what the other holds. */
function copy(message: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(message)) as JsonObject;
}
