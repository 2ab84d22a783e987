/** Tools of a registry, and tools that a program has built itself. */

import { DiscoveredMCPTool, type DiscoveredMCPToolOptions } from "../../src/gemini/discovered-tool.ts";
import type { CallableTool, FunctionCall } from "../../src/normalise/model-types.ts";
import { RegisteredTool, type RegisteredToolOptions } from "../../src/server/registered-tool.ts";

export interface RecordingCallable extends CallableTool {
  readonly calls: FunctionCall[];
}

/** Answers every call with these words. */
export function callable(text = "done"): RecordingCallable {
  const calls: FunctionCall[] = [];
  return {
    calls,
    tool: async () => ({}),
    async callTool(made) {
      calls.push(...made);
      return made.map(({ name = "" }) => ({
        functionResponse: { name, response: { content: [{ type: "text", text }] } },
      }));
    },
  };
}

/** A tool of a registry. Its calls answer with the pair that it was called as. */
export function sampleTool(
  serverName: string,
  serverToolName: string,
  options: Partial<RegisteredToolOptions> = {},
): RegisteredTool {
  return new RegisteredTool({
    serverName,
    serverToolName,
    description: "",
    parameterSchemaJson: { type: "object", properties: {} },
    binding: {
      confirm: async () => false,
      call: async () => ({ llmContent: [], returnDisplay: JSON.stringify([serverName, serverToolName]) }),
    },
    ...options,
  });
}

/** A tool that a program has built itself. */
export function builtTool(
  serverName: string,
  serverToolName: string,
  options: Partial<DiscoveredMCPToolOptions> = {},
): DiscoveredMCPTool {
  return new DiscoveredMCPTool({
    mcpTool: callable(),
    serverName,
    serverToolName,
    description: "",
    parameterSchemaJson: { type: "object", properties: {} },
    ...options,
  });
}

/** `server/tool` → the name that the model is given. */
export function namesOf(
  tools: readonly Pick<RegisteredTool, "serverName" | "serverToolName" | "name">[],
): Record<string, string> {
  return Object.fromEntries(
    tools.map(({ serverName, serverToolName, name }) => [`${serverName}/${serverToolName}`, name]),
  );
}
