/** The tools of one connected client as a `CallableTool`, for tools that are built by hand and for `@google/genai`. */

import { HostError } from "../errors.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import type { McpClient } from "./client.ts";

/** Options of `mcpToTool`. */
export interface McpToToolOptions {
  /** Milliseconds without a response or progress after which a call fails; the connection's limit by default. */
  readonly timeout?: number;
}

/**
 * Makes a `CallableTool` of a client that has discovered its tools. Names are the server's own. It checks no policy: the
 * caller must ask for confirmation first.
 */
export function mcpToTool(client: McpClient, options: McpToToolOptions = {}): CallableTool {
  async function call({ id, name, args = {} }: FunctionCall): Promise<Part> {
    if (name === undefined) throw new HostError("usage", `a function call to "${client.name}" has no tool name`);
    const { content, structuredContent, isError } = await client.callTool(name, args, options);
    const response = {
      content: content.map((block) => (block.type === "unknown" ? block.raw : block)),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(isError && { isError }),
    };
    return { functionResponse: { ...(id !== undefined && { id }), name, response } };
  }

  return {
    async tool() {
      const tools = client.filteredCatalog?.catalog.tools ?? [];
      return {
        functionDeclarations: tools.map(({ name, description = "", inputSchema }) => {
          return { name, description, parametersJsonSchema: inputSchema };
        }),
      };
    },
    callTool: (calls) => Promise.all(calls.map(call)),
  };
}
