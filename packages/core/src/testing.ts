/** For tests of programs that use the library: tools that run nothing, and a check of what running them gives. Bound to no test framework: what fails throws. */

import { isDeepStrictEqual } from "node:util";
import type { CallableTool, FunctionCall, Part } from "./normalise/model-types.ts";
import type { ToolExecution } from "./registry/binding.ts";
import { DiscoveredMCPTool, type DiscoveredMCPToolOptions } from "./registry/discovered-tool.ts";

/** One with the calls that it was given, in their order. */
export interface MockCallableTool extends CallableTool {
  readonly calls: readonly FunctionCall[];
}

export const MCPToolTestHelper = {
  /** Answers each call with the response under the called name, as JSON in one text; `{success: true}` if there is none. */
  createMockCallableTool(responses: Readonly<Record<string, unknown>> = {}): MockCallableTool {
    const answers = new Map(Object.entries(responses));
    const calls: FunctionCall[] = [];
    return {
      calls,
      async tool() {
        const declare = (name: string) => ({ name, description: "", parametersJsonSchema: { type: "object" } });
        return { functionDeclarations: [...answers.keys()].map(declare) };
      },
      async callTool(functionCalls): Promise<Part[]> {
        calls.push(...functionCalls);
        return functionCalls.map(({ name = "" }) => {
          const given = answers.get(name);
          // `null` is an answer, too.
          const answer = given === undefined ? { success: true } : given;
          return {
            functionResponse: { name, response: { content: [{ type: "text", text: JSON.stringify(answer) }] } },
          };
        });
      },
    };
  },

  createTestTool(
    serverName = "test-server",
    serverToolName = "test-tool",
    overrides: Partial<DiscoveredMCPToolOptions> = {},
  ): DiscoveredMCPTool {
    return new DiscoveredMCPTool({
      mcpTool: MCPToolTestHelper.createMockCallableTool(),
      serverName,
      serverToolName,
      description: "Test tool description",
      parameterSchemaJson: { type: "object", properties: {} },
      timeout: 5000,
      trust: false,
      ...overrides,
    });
  },

  /** Runs the tool, and throws unless it gives something for the model and, for the person, the expected JSON. */
  async testToolExecution(tool: DiscoveredMCPTool, params: unknown, expected?: unknown): Promise<ToolExecution> {
    const execution = await tool.execute(params);
    if (execution.llmContent.length === 0) throw new Error(`${tool.name} gave the model nothing`);
    if (expected === undefined) return execution;
    const shown = readJson(execution.returnDisplay);
    if (!isDeepStrictEqual(shown, expected))
      throw new Error(`${tool.name} gave ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
    return execution;
  },
} as const;

/** Fenced or not; what is no JSON is a text. */
function readJson(display: string): unknown {
  const text = display.replace(/^```json\n(.*)\n```$/s, "$1");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
