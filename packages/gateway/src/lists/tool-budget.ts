/**
 * Shortens the tool list of a client with a tool budget. The client finds and calls the other tools with `search_tools`
 * and `call_tool`.
 */

import type { GatewayHost, Host, ListableTool } from "@fairlead/core/host";
import { estimateTokens } from "@fairlead/core/plain-text";
import type { ToolIdentity } from "@fairlead/core/policy";
import type { Pin } from "@fairlead/core/server";
import type { ToolBudget } from "@fairlead/core/settings";
import type { JsonObject } from "@fairlead/wire";
import { listOf } from "@fairlead/wire/json";
import { type ClientView, type OwnToolNames, ownTools } from "./client-view.ts";

/** The tool that finds tools. */
const searchDefinition = ({ search, call }: OwnToolNames): JsonObject => ({
  name: search,
  description: `Finds tools that are not in the tool list. Returns their names, descriptions and input schemas. Call them with ${call}.`,
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
});

/** The tool that calls a tool which the other one has found. */
const callDefinition = ({ search, call }: OwnToolNames): JsonObject => ({
  name: call,
  description: `Calls a tool that ${search} has found.`,
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: `The name of the tool, as ${search} returned it.` },
      arguments: { type: "object", description: "The tool's arguments, as its input schema describes them." },
    },
    required: ["name"],
  },
});

const mostQueries = 10;
const mostFound = 20;
const usualFound = 5;
/** Maximum number of characters for one tool in a result of `search_tools`. */
const mostOfTool = 8000;
const mostText = 40_000;

/**
 * Returns all tools if they fit the budget. Otherwise returns those that fit, and the gateway's own two tools.
 *
 * @param always Tools that are listed in any case, and count towards the budget.
 */
export async function withinBudget(
  gateway: Pick<GatewayHost, "toolsWithin">,
  tools: readonly ListableTool[],
  budget: ToolBudget,
  names: OwnToolNames,
  always: readonly ListableTool[] = [],
): Promise<readonly ListableTool[]> {
  if ((await gateway.toolsWithin(tools, without(budget, always))).length === tools.length) return [...tools, ...always];
  const found = [
    { ...ownTools.search, definition: searchDefinition(names) },
    { ...ownTools.call, definition: callDefinition(names) },
  ].map(({ server, name, definition }) => ({ serverName: server, serverToolName: name, definition }));
  const own = [...found, ...always];
  return [...(await gateway.toolsWithin(tools, without(budget, own))), ...own];
}

/** What is left of a budget. */
function without(budget: ToolBudget, own: readonly ListableTool[]): ToolBudget {
  const cost = own.reduce((sum, { definition }) => sum + estimateTokens(JSON.stringify(definition)), 0);
  return {
    tokens: budget.tokens === undefined ? undefined : Math.max(0, budget.tokens - cost),
    tools: budget.tools === undefined ? undefined : Math.max(0, budget.tools - own.length),
  };
}

/** Which of the tools that a search finds the client may see. `maySee` is asked last, and fixes the tool's name. */
export interface SearchLimits {
  readonly isDenied: (tool: ToolIdentity) => boolean;
  readonly maySee: (tool: Pin) => boolean;
}

type ListedTool = Pick<ListableTool, "serverName" | "serverToolName">;

/** Runs `search_tools`. The result contains only tools that the client may use. */
export async function searchListed(
  host: Pick<Host, "searchTools">,
  view: () => Pick<ClientView, "tools">,
  { isDenied, maySee }: SearchLimits,
  args: JsonObject,
): Promise<JsonObject> {
  const queries = listOf(args["queries"])
    .filter((query) => typeof query === "string")
    .slice(0, mostQueries);
  const limit = typeof args["limit"] === "number" ? Math.min(Math.max(1, args["limit"]), mostFound) : usualFound;
  const nameBefore = namesIn(view());
  const isOffered = (tool: ListedTool): boolean => nameBefore(tool) !== undefined && !isDenied(tool);
  const found = queries.length === 0 ? [] : await host.searchTools(queries, { limit, isOffered });
  // The lists may have changed during the search.
  const { tools } = view();
  const nameOf = namesIn({ tools });
  const lines: string[] = [];
  let size = 0;
  for (const { server, tool } of found) {
    const name = nameOf({ serverName: server, serverToolName: tool });
    const definition = name === undefined ? undefined : tools.get(name)?.definition;
    if (name === undefined || definition === undefined) continue;
    const { description, inputSchema } = definition;
    const line = JSON.stringify({ name, server, description, inputSchema });
    const shown =
      line.length <= mostOfTool ? line : JSON.stringify({ name, server, inputSchema: "(too large to show)" });
    if (size + shown.length > mostText) break;
    if (!maySee({ server, name: tool, as: name })) continue;
    size += shown.length;
    lines.push(shown);
  }
  const text = lines.length === 0 ? "No tool was found. Try other words." : lines.join("\n");
  return { content: [{ type: "text", text }] };
}

/** Returns a function that finds the client's name of a tool. */
function namesIn({ tools }: Pick<ClientView, "tools">): (tool: ListedTool) => string | undefined {
  const listed = new Map([...tools].map(([as, { server, name }]) => [JSON.stringify([server, name]), as]));
  return ({ serverName, serverToolName }) => listed.get(JSON.stringify([serverName, serverToolName]));
}
