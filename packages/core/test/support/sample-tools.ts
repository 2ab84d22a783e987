/** Tools that remember which pair they were called as. */

import type { CallableTool, FunctionCall } from "../../src/normalise/model-types.ts";
import { DiscoveredMCPTool, type DiscoveredMCPToolOptions } from "../../src/registry/discovered-tool.ts";

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

export function sampleTool(
  serverName: string,
  serverToolName: string,
  options: Partial<DiscoveredMCPToolOptions> = {},
): DiscoveredMCPTool {
  return new DiscoveredMCPTool({
    mcpTool: callable(JSON.stringify([serverName, serverToolName])),
    serverName,
    serverToolName,
    description: "",
    parameterSchemaJson: { type: "object", properties: {} },
    ...options,
  });
}

/** `server/tool` → the name that the model is given. */
export function namesOf(tools: readonly DiscoveredMCPTool[]): Record<string, string> {
  return Object.fromEntries(
    tools.map(({ serverName, serverToolName, name }) => [`${serverName}/${serverToolName}`, name]),
  );
}
