/** All tools of a host as one tool of `@google/genai`. */

import { HostError } from "../errors.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import { confirmThrough } from "../policy/confirmation.ts";
import { ConversationTools } from "../server/pinned-tools.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import { closest } from "../text/closest.ts";
import type { RunningHost } from "./running-host.ts";

/**
 * Combines all tools of a host into one `CallableTool` of `@google/genai`. Calls ask for confirmation if the rules
 * require it. The model gets failures as responses.
 */
export function createCallableTool({ registries, options: { confirm }, work }: RunningHost): CallableTool {
  const signal = work.closing;
  let opened: ConversationTools | undefined;
  /** The tools of the conversation. Their names stay the same after the model has seen them. */
  function conversation(): ConversationTools {
    opened ??= new ConversationTools(registries.tools);
    return opened;
  }

  async function run(tool: RegisteredTool, args: Record<string, unknown>): Promise<Answer> {
    const { llmContent, error } = await tool.execute(args, signal, { confirm: confirmThrough(confirm, signal, true) });
    const text = llmContent.flatMap((part) => part.text ?? []).join("\n");
    const media = llmContent.filter(({ inlineData }) => inlineData !== undefined);
    return { response: error === undefined ? { output: text } : { error: text || error.message }, media };
  }

  async function answer({ name = "", args = {} }: FunctionCall): Promise<Answer> {
    const tool = conversation().getTool(name);
    if (tool === undefined) return { response: { error: unknownTool(name, conversation()) }, media: [] };
    try {
      return await run(tool, args);
    } catch (error) {
      // A denied or failed call becomes a response, so that the model can continue.
      if (!(error instanceof HostError) || signal.aborted) throw error;
      return { response: { error: `${error.code}: ${error.message}` }, media: [] };
    }
  }

  return {
    tool: async () => ({ functionDeclarations: conversation().getFunctionDeclarations() }),
    async callTool(functionCalls) {
      const answers = await Promise.all(
        functionCalls.map(async (call): Promise<Part[]> => {
          const { response, media } = await answer(call);
          const { id, name } = call;
          const functionResponse = { id, name, response };
          return [{ functionResponse }, ...media];
        }),
      );
      return answers.flat();
    },
  };
}

interface Answer {
  readonly response: Record<string, unknown>;
  /** Media is sent next to the response, because not every model accepts media inside a response. */
  readonly media: readonly Part[];
}

function unknownTool(name: string, tools: ConversationTools): string {
  const near = closest(
    name,
    tools.getAllTools().map((tool) => tool.name),
  );
  return `tool_unknown: there is no tool "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
