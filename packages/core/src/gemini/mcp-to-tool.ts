/** `mcpToTool`: the tools of a connected server as one `CallableTool`. */

import type { JsonObject, ToolResult as McpToolResult } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import { normaliseToolResult } from "@fairlead/wire/results";
import {
  aName,
  anObject,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  type Wanted,
  withMethod,
} from "../expect-arguments.ts";
import { limits } from "../limits.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import type { FilteredCatalog } from "../server/filtered-catalog.ts";
import type { CancellableTool } from "./call-tool.ts";
import { ConnectedClient, type SdkClient, type SdkRequestOptions } from "./sdk-client.ts";

/** Options of `mcpToTool`. */
export interface McpToToolOptions {
  /** A call fails after this many milliseconds without a response or progress. Default: the connection's limit. */
  readonly timeout?: number;
}

/** A client that has read its catalog: an `McpClient`. */
export interface CatalogClient {
  readonly name: string;
  readonly filteredCatalog: FilteredCatalog | undefined;
  callTool(name: string, args: JsonObject, options?: SdkRequestOptions): Promise<McpToolResult>;
}

/** A tool as a server lists it. */
export interface ListedToolFacts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

/**
 * Creates a `CallableTool` from a connected client: one of `connectToMcpServer`, the official SDK's, or an `McpClient`
 * that has read its catalog. Tools keep the server's names; only the first 512 are declared. Checks no rules: ask for
 * confirmation first.
 */
export function mcpToTool(client: SdkClient | CatalogClient, options: McpToToolOptions = {}): CallableTool {
  const create = "mcpToTool()";
  expectArguments(create, { client: [client, withMethod("callTool")], options: [options, anObject] });
  const { timeout } = readMembers(create, options, { timeout: optional(someMilliseconds) }, "options.");

  function request(name: string, args: JsonObject, how: SdkRequestOptions): Promise<McpToolResult> {
    if (isCatalogClient(client)) return client.callTool(name, args, how);
    const params = { name, arguments: args };
    // The versions of the official SDK take options in different places, so only our own client gets them.
    const answer = client instanceof ConnectedClient ? client.callTool(params, how) : client.callTool(params);
    return answer.then((result) => normaliseToolResult(objectOf(result)));
  }

  async function call({ id, name = "", args = {} }: FunctionCall, signal: AbortSignal | undefined): Promise<Part> {
    const { content, structuredContent, isError } = await request(name, args, { timeout, signal });
    const response = {
      content: content.map((block) => (block.type === "unknown" ? block.raw : block)),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(isError && { isError }),
    };
    return { functionResponse: { ...(id !== undefined && { id }), name, response } };
  }

  async function all(calls: FunctionCall[], signal?: AbortSignal): Promise<Part[]> {
    expectArguments("callTool()", { calls: [calls, someCalls] });
    return Promise.all(calls.map((each) => call(each, signal)));
  }

  const tool: CancellableTool = {
    async tool() {
      const tools = isCatalogClient(client)
        ? (client.filteredCatalog?.catalog.tools ?? [])
        : await listSdkTools(client);
      return {
        functionDeclarations: tools.slice(0, limits.declarations).map(({ name, description = "", inputSchema }) => {
          return { name, description, parametersJsonSchema: inputSchema };
        }),
      };
    },
    callTool: (calls) => all(calls),
    callUntil: all,
  };
  return tool;
}

const someCalls: Wanted = {
  words: "a list of function calls, each with a name and an object of args",
  accepts: (given) => Array.isArray(given) && given.every(isCall),
};

function isCall(given: unknown): boolean {
  const { name, args } = objectOf(given);
  return aName.accepts(name) && optional(anObject).accepts(args);
}

function isCatalogClient(client: SdkClient | CatalogClient): client is CatalogClient {
  return "filteredCatalog" in client;
}

/** Reads all pages of a client's tools. Leaves out what has no name. */
export async function listSdkTools(client: SdkClient): Promise<readonly ListedToolFacts[]> {
  const listed: ListedToolFacts[] = [];
  await everyPage(async (params) => {
    const page = await client.listTools(params);
    for (const item of page.tools) {
      const { name, title, description, inputSchema, outputSchema, annotations } = item as Record<string, unknown>;
      if (typeof name !== "string" || name === "") continue;
      listed.push({
        name,
        // A tool without a schema takes any arguments.
        inputSchema: isObject(inputSchema) ? inputSchema : { type: "object" },
        title: stringOf(title),
        description: stringOf(description),
        outputSchema: isObject(outputSchema) ? outputSchema : undefined,
        annotations: isObject(annotations) ? annotations : undefined,
      });
    }
    return listed.length < limits.toolsPerServer ? page.nextCursor : undefined;
  });
  return listed;
}

/** A server may name pages without end. */
const mostPages = 1000;

/** Reads pages until there is no next one. A foreign client may return anything as the next cursor. */
export async function everyPage(read: (params?: { cursor: string }) => Promise<unknown>): Promise<void> {
  let cursor = stringOf(await read());
  for (let pages = 1; cursor !== undefined && pages < mostPages; pages += 1) cursor = stringOf(await read({ cursor }));
}
