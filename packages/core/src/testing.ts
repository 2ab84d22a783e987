/**
 * Helpers for tests of programs that use the library. They need no test framework: a failed check throws an `Error`.
 */

import { isDeepStrictEqual } from "node:util";
import type { CallableTool, FunctionCall, Part } from "./normalise/model-types.ts";
import type { ToolExecution } from "./registry/binding.ts";
import { DiscoveredMCPTool, type DiscoveredMCPToolOptions } from "./registry/discovered-tool.ts";

export type { CheckedResult } from "./checks/compare-result.ts";
export { type ExpectedResult, type MatcherResult, maskResult, mcpMatchers } from "./checks/matchers.ts";

/** A `CallableTool` that runs nothing and records its calls in order. */
export interface MockCallableTool extends CallableTool {
  readonly calls: readonly FunctionCall[];
}

/** Creates mock tools, and checks the results that a tool gives to the model and to the user. */
export const MCPToolTestHelper = {
  /**
   * Creates a tool that answers each call with JSON text. `responses` contains the responses by function name. The
   * response to any other name is `{success: true}`.
   */
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
          // `null` is a valid response, so only `undefined` means that `responses` lacks the name.
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

  /**
   * Runs the tool and returns what the model and the user get.
   *
   * @throws Error if the model gets nothing, or if the user does not see the expected JSON
   */
  async testToolExecution(tool: DiscoveredMCPTool, params: unknown, expected?: unknown): Promise<ToolExecution> {
    const execution = await tool.execute(params);
    if (execution.llmContent.length === 0) throw new Error(`${tool.name} returned nothing for the model`);
    if (expected === undefined) return execution;
    const shown = readJson(execution.returnDisplay);
    if (!isDeepStrictEqual(shown, expected))
      throw new Error(`${tool.name} gave ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
    return execution;
  },
} as const;

/** Reads JSON with or without a Markdown fence. Returns any other text unchanged. */
function readJson(display: string): unknown {
  const text = display.replace(/^```json\n(.*)\n```$/s, "$1");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
