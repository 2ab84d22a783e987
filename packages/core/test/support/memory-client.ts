/** A client in memory whose answers the test gives, and an executor with the real validator. */

import type { JsonObject, McpRequestOptions, ToolResult } from "@fairlead/wire";
import { type CallClient, Executor, type ExecutorOptions } from "../../src/execute/executor.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { filterCatalog } from "../../src/server/filtered-catalog.ts";

export const echo: CatalogTool = {
  name: "echo",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};
export const done: ToolResult = { content: [{ type: "text", text: "hi" }], isError: false, notes: [] };
export const patient = { timeout: 1000, total: 5000 };

export type Answer = (args: JsonObject, options: McpRequestOptions) => ToolResult | Promise<ToolResult>;

export interface MemoryClient {
  readonly client: CallClient;
  readonly sent: readonly (readonly [string, JsonObject, McpRequestOptions])[];
}

export function clientOf(tools: readonly CatalogTool[], answer: Answer, name = "s"): MemoryClient {
  const sent: [string, JsonObject, McpRequestOptions][] = [];
  const lists = { prompts: [], resources: [], resourceTemplates: [], dropped: [], repaired: [], truncated: [] };
  const filteredCatalog = filterCatalog(
    { tools, ...lists },
    { serverName: name, filter: { excludeTools: [] }, mayGrow: true },
  );
  const client: CallClient = {
    name,
    filteredCatalog,
    async callTool(tool, args, options = {}) {
      sent.push([tool, args, options]);
      return answer(args, options);
    },
    async request(what, _method, params, options = {}) {
      sent.push([what, params, options]);
      return { ...(await answer(params, options)) };
    },
  };
  return { client, sent };
}

export function executorWith(options: Partial<ExecutorOptions> = {}): Executor {
  return new Executor({
    limits: () => ({ callsPerServer: 16, callsTotal: 64 }),
    validator: createValidator(),
    ...options,
  });
}
