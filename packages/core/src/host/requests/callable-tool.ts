/**
 * Offers all tools of a host as one `CallableTool` of `@google/genai`, with confirmation. Failures are reported to the
 * model.
 */

import { HostError } from "../../errors.ts";
import type { CallableTool, FunctionCall, Part } from "../../normalise/model-types.ts";
import { confirmThrough } from "../../registry/confirmation.ts";
import type { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import type { ConversationTools } from "../../registry/pinned-tools.ts";
import { closest } from "../../text/closest.ts";
import type { OpenHostOptions } from "../types.ts";

export interface CallableOptions {
  readonly open: () => ConversationTools;
  readonly confirm: OpenHostOptions["confirm"];
  /** Aborted when the host is closed. */
  readonly signal: AbortSignal;
}

export function createCallableTool({ open, confirm, signal }: CallableOptions): CallableTool {
  let opened: ConversationTools | undefined;
  /** A conversation fixes its tool names when a model is first shown them. */
  function conversation(): ConversationTools {
    opened ??= open();
    return opened;
  }

  async function run(tool: DiscoveredMCPTool, args: Record<string, unknown>): Promise<Answer> {
    const { llmContent, error } = await tool.execute(args, signal, { confirm: confirmThrough(confirm, signal) });
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
      // A denied or failed call is reported to the model: it does not end the model's turn.
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
          const functionResponse = { ...(id !== undefined && { id }), ...(name !== undefined && { name }), response };
          return [{ functionResponse }, ...media];
        }),
      );
      return answers.flat();
    },
  };
}

interface Answer {
  readonly response: Record<string, unknown>;
  /** Media is sent beside the response: not every model takes media inside it. */
  readonly media: readonly Part[];
}

function unknownTool(name: string, tools: ConversationTools): string {
  const near = closest(
    name,
    tools.getAllTools().map((tool) => tool.name),
  );
  return `tool_unknown: there is no tool "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
