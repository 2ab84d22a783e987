/**
 * Shortens the tool list of a client with a tool budget. The client finds and calls the other tools with `search_tools`
 * and `call_tool`.
 */

import type { Host, ListableTool } from "@fairlead/core/host/types";
import type { ToolBudget } from "@fairlead/core/settings/define/definition";
import { estimateTokens } from "@fairlead/core/text/token-estimate";
import type { JsonObject } from "@fairlead/wire";
import { listOf } from "@fairlead/wire/json";
import type { ClientView } from "./client-view.ts";

/** The tool that finds tools. In a shortened list, it replaces a server's tool of the same name. */
export const searchToolsName = "search_tools";
/** The tool that calls a tool found with `search_tools`. */
export const callToolName = "call_tool";

const searchDefinition: JsonObject = {
  name: searchToolsName,
  description:
    "Finds tools that are not in the tool list. Returns their names, descriptions and input schemas. Call them with call_tool.",
  inputSchema: {
    type: "object",
    properties: {
      queries: {
        type: "array",
        items: { type: "string" },
        description: "What the tools should do, in a few words.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 20,
        description: "Maximum number of tools to return. Default: 5.",
      },
    },
    required: ["queries"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const callDefinition: JsonObject = {
  name: callToolName,
  description: "Calls a tool that search_tools has found.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The name of the tool, as search_tools returned it." },
      arguments: { type: "object", description: "The tool's arguments, as its input schema describes them." },
    },
    required: ["name"],
  },
};

const mostQueries = 10;
const mostFound = 20;
const usualFound = 5;
/** Maximum number of characters for one tool in a result of `search_tools`. */
const mostOfTool = 8000;
const mostText = 40_000;

/** Whether the client gets `search_tools` and `call_tool`, because its budget is too small for all tools. */
export async function hasSearchTools(
  host: Pick<Host, "toolsWithin">,
  tools: readonly ListableTool[],
  budget: ToolBudget,
): Promise<boolean> {
  return (await host.toolsWithin(tools, budget)).length < tools.length;
}

/** Returns all tools if they fit the budget. Otherwise returns those that fit, `search_tools` and `call_tool`. */
export async function withinBudget(
  host: Pick<Host, "toolsWithin">,
  tools: readonly ListableTool[],
  budget: ToolBudget,
): Promise<readonly JsonObject[]> {
  if (!(await hasSearchTools(host, tools, budget))) return tools.map(({ definition }) => definition);
  const own = [searchDefinition, callDefinition];
  const cost = own.reduce((sum, each) => sum + estimateTokens(JSON.stringify(each)), 0);
  const fitting = await host.toolsWithin(
    tools.filter(({ definition: { name } }) => name !== searchToolsName && name !== callToolName),
    {
      ...(budget.tokens !== undefined && { tokens: Math.max(0, budget.tokens - cost) }),
      ...(budget.tools !== undefined && { tools: Math.max(0, budget.tools - own.length) }),
    },
  );
  return [...fitting.map(({ definition }) => definition), ...own];
}

/** Runs `search_tools`. The result contains only tools that the client may use. */
export async function searchListed(
  host: Pick<Host, "searchTools">,
  { tools }: Pick<ClientView, "tools">,
  isDenied: (tool: { readonly serverName: string; readonly serverToolName: string }) => boolean,
  args: JsonObject,
): Promise<JsonObject> {
  const queries = listOf(args["queries"])
    .filter((query) => typeof query === "string")
    .slice(0, mostQueries);
  const limit = typeof args["limit"] === "number" ? Math.min(Math.max(1, args["limit"]), mostFound) : usualFound;
  const found = queries.length === 0 ? [] : await host.searchTools(queries, { limit: 10 * mostFound });
  const listed = new Map([...tools].map(([name, { server, name: own }]) => [JSON.stringify([server, own]), name]));
  const lines: string[] = [];
  let size = 0;
  for (const { server, tool } of found) {
    const name = listed.get(JSON.stringify([server, tool]));
    const definition = name === undefined ? undefined : tools.get(name)?.definition;
    if (definition === undefined || isDenied({ serverName: server, serverToolName: tool })) continue;
    const { description, inputSchema } = definition;
    const line = JSON.stringify({ name, server, description, inputSchema });
    const shown =
      line.length <= mostOfTool ? line : JSON.stringify({ name, server, inputSchema: "(too large to show)" });
    size += shown.length;
    if (lines.length >= limit || size > mostText) break;
    lines.push(shown);
  }
  const text = lines.length === 0 ? "No tool was found. Try other words." : lines.join("\n");
  return { content: [{ type: "text", text }] };
}
