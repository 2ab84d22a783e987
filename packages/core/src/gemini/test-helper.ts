/** Stand-ins for tests of tools. They need no test framework: a failed check throws an `Error`. */

import { isDeepStrictEqual } from "node:util";
import { aName, anObject, expectArguments, type Wanted, withMethod } from "../expect-arguments.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import type { ToolParams, ToolRunResult } from "./base-tool.ts";
import { DiscoveredMCPTool, type DiscoveredMCPToolOptions } from "./discovered-tool.ts";

/** A `CallableTool` that runs nothing and records its calls in order. */
export interface MockCallableTool extends CallableTool {
  readonly calls: readonly FunctionCall[];
}

/** Creates mock tools, and checks the results that a tool gives to the model and to the person. */
// biome-ignore lint/complexity/noStaticOnlyClass: programs that were written for Gemini CLI extend it.
export class MCPToolTestHelper {
  /**
   * Creates a tool that answers each call with JSON text. `responses` contains the responses by function name. The
   * response to any other name is `{success: true}`.
   */
  static createMockCallableTool(responses: Readonly<Record<string, unknown>> = {}): MockCallableTool {
    expectArguments("createMockCallableTool()", { responses: [responses, anObject] });
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
  }

  /**
   * Creates a tool on a mock, without trust and with a timeout of 5 000 ms.
   *
   * @param overrides The constructor's arguments after the first seven (`nameOverride`, `cliConfig`), or an object with
   * members that replace those of the tool.
   */
  static createTestTool(
    serverName = "test-server",
    toolName = "test-tool",
    overrides: readonly unknown[] | Partial<DiscoveredMCPToolOptions> = [],
  ): DiscoveredMCPTool {
    expectArguments("createTestTool()", {
      serverName: [serverName, aName],
      toolName: [toolName, aName],
      overrides: [overrides, someOverrides],
    });
    const mcpTool = MCPToolTestHelper.createMockCallableTool();
    const description = "Test tool description";
    const parameterSchemaJson = { type: "object", properties: {} };
    const [timeout, trust] = [5000, false];
    if (!isList(overrides)) {
      const tool = { mcpTool, serverName, serverToolName: toolName, description, parameterSchemaJson, timeout, trust };
      return new DiscoveredMCPTool({ ...tool, ...overrides });
    }
    const seven = [mcpTool, serverName, toolName, description, parameterSchemaJson, timeout, trust];
    return Reflect.construct(DiscoveredMCPTool, [...seven, ...overrides]) as DiscoveredMCPTool;
  }

  /**
   * Runs the tool and returns what the model and the person get.
   *
   * @throws Error if the model gets nothing, or if the person does not see the expected JSON
   */
  static async testToolExecution(
    tool: DiscoveredMCPTool,
    params: ToolParams,
    expected?: unknown,
  ): Promise<ToolRunResult> {
    expectArguments("testToolExecution()", { tool: [tool, withMethod("execute")] });
    const result = await tool.execute(params);
    if (result.llmContent.length === 0) throw new Error(`${tool.name} returned nothing for the model`);
    if (expected === undefined) return result;
    const shown = readJson(result.returnDisplay);
    if (!isDeepStrictEqual(shown, expected))
      throw new Error(`${tool.name} gave ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
    return result;
  }
}

const someOverrides: Wanted = {
  words: "a list of arguments, or an object",
  accepts: (given) => Array.isArray(given) || anObject.accepts(given),
};

function isList(overrides: readonly unknown[] | object): overrides is readonly unknown[] {
  return Array.isArray(overrides);
}

/** Reads JSON with or without a Markdown fence. Returns any other text unchanged. */
function readJson(display: string): unknown {
  const text = display.replace(/^```json\n(.*)\n```$/s, "$1");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
