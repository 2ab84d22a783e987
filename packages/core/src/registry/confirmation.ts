/** What a person is asked before a tool runs, and what may be answered: the words between the registry and whoever decides. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";

export const ToolConfirmationOutcome = {
  ProceedOnce: "proceed_once",
  ProceedAlwaysServer: "proceed_always_server",
  ProceedAlwaysTool: "proceed_always_tool",
  Cancel: "cancel",
} as const;
export type ToolConfirmationOutcome = (typeof ToolConfirmationOutcome)[keyof typeof ToolConfirmationOutcome];

/** What is asked about. The pair is the identity; everything else is for showing. */
export interface AskedTool {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly name: string;
  readonly description: string;
  readonly annotations?: JsonObject | undefined;
}

/** Texts are the server's own: raw. */
export interface ToolCallConfirmationDetails {
  readonly type: "mcp";
  readonly title: string;
  readonly serverName: string;
  /** The server's own name for it. */
  readonly toolName: string;
  /** The name that the model uses. */
  readonly toolDisplayName: string;
  readonly description: string;
  /** Exactly what will be sent, frozen. */
  readonly args: JsonObject;
  readonly annotations?: JsonObject;
  /** Told once what the person answered; without an answer nothing runs. */
  readonly onConfirm: (outcome: ToolConfirmationOutcome) => Promise<void>;
}

/** A question about these arguments, as they are now. Of several answers the first counts. */
export function askAbout(
  tool: AskedTool,
  args: JsonObject,
  answer: (outcome: ToolConfirmationOutcome, args: JsonObject) => void,
): ToolCallConfirmationDetails {
  const shown = frozenCopy(args, tool.serverName);
  let isAnswered = false;
  return {
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: tool.serverName,
    toolName: tool.serverToolName,
    toolDisplayName: tool.name,
    description: tool.description,
    args: shown,
    ...(tool.annotations && { annotations: tool.annotations }),
    async onConfirm(outcome) {
      if (isAnswered) return;
      isAnswered = true;
      answer(outcome, shown);
    },
  };
}

/** What a person sees must not change under their eyes. */
function frozenCopy(args: JsonObject, serverName: string): JsonObject {
  try {
    const copy = structuredClone(args);
    const open: unknown[] = [copy];
    for (const value of open) {
      if (typeof value !== "object" || value === null || Object.isFrozen(value)) continue;
      for (const inner of Object.values(Object.freeze(value))) open.push(inner);
    }
    return copy;
  } catch (cause) {
    throw new HostError("arguments_invalid", "Invalid parameters: must be JSON", { serverName, cause });
  }
}
