/** What a person is asked before a tool runs, and what may be answered: the words between the registry and whoever decides. */

import type { JsonObject } from "@fairlead/wire";
import type { Difference } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";

/** The answers to the confirmation of a tool call. */
export const ToolConfirmationOutcome = {
  ProceedOnce: "proceed_once",
  ProceedAlwaysServer: "proceed_always_server",
  ProceedAlwaysTool: "proceed_always_tool",
  /** Also in conversations to come, as long as the server's entry and the tool's definition stay what they are. */
  ProceedAlwaysAndSave: "proceed_always_and_save",
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

/** The rule that asks, in words. */
export interface AskingRule {
  readonly decision: "allow" | "ask_user" | "deny";
  readonly tier: string;
  readonly text: string;
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
  /** Why it is asked. */
  readonly rule?: AskingRule;
  /** How its definition differs from the one that was accepted before, if it does. */
  readonly change?: readonly Difference[];
  /** The answers that can take effect. Another yes counts for once. */
  readonly outcomes: readonly ToolConfirmationOutcome[];
  /** Told once what the person answered; without an answer nothing runs. */
  readonly onConfirm: (outcome: ToolConfirmationOutcome) => Promise<void>;
}

export interface Question extends Pick<ToolCallConfirmationDetails, "rule" | "change" | "outcomes"> {
  readonly answer: (outcome: ToolConfirmationOutcome) => void | Promise<void>;
}

/** A question about these arguments, as they are now. Of several answers the first counts. */
export function askAbout(
  tool: AskedTool,
  args: JsonObject,
  { answer, ...question }: Question,
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
    ...question,
    async onConfirm(outcome) {
      if (isAnswered) return;
      isAnswered = true;
      await answer(outcome);
    },
  };
}

/** Whatever else a program passes on is a no. */
export function isYes(outcome: ToolConfirmationOutcome): boolean {
  return outcome !== ToolConfirmationOutcome.Cancel && Object.values(ToolConfirmationOutcome).includes(outcome);
}

/** The program that embeds the host asks the person. */
export type Confirm = (details: ToolCallConfirmationDetails, signal: AbortSignal) => Promise<ToolConfirmationOutcome>;

/** A port that asks through the embedding program; without one, nobody can be asked. */
export function confirmThrough(confirm: Confirm | undefined, signal: AbortSignal) {
  return async (question: () => Promise<ToolCallConfirmationDetails | false>): Promise<void> => {
    const details = await question();
    if (details === false) return;
    const outcome = (await confirm?.(details, signal)) ?? ToolConfirmationOutcome.Cancel;
    await details.onConfirm(outcome);
    if (!isYes(outcome)) throw declined(details, confirm !== undefined);
  };
}

/** The refusal of a request that a person said no to, or could not be asked about. */
export function declined({ serverName, toolName }: ToolCallConfirmationDetails, wasAsked = true): HostError {
  const why = wasAsked ? "the person said no" : "nobody can be asked, and no rule allows it";
  return new HostError("denied", `${serverName}.${toolName} may not run: ${why}`, { serverName });
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
