/** The confirmation of a tool call: the question to the user, the possible answers, and the errors after a no. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, textIn } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { toPlainArguments } from "../normalise/plain-arguments.ts";
import type { Difference } from "../server/tool-changes.ts";
import type { Flag } from "../text/flags.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { RequestKind } from "./rules/rule.ts";

/** The answers to the confirmation of a tool call. */
export const ToolConfirmationOutcome = {
  ProceedOnce: "proceed_once",
  ProceedAlwaysServer: "proceed_always_server",
  ProceedAlwaysTool: "proceed_always_tool",
  /**
   * Allows this call and later calls, also in later conversations. Ends when the server's settings or the tool's
   * definition change. If a client of a gateway sent the call, allows the calls of this client only.
   */
  ProceedAlwaysAndSave: "proceed_always_and_save",
  Cancel: "cancel",
} as const;
/** An answer to the confirmation of a tool call. */
export type ToolConfirmationOutcome = (typeof ToolConfirmationOutcome)[keyof typeof ToolConfirmationOutcome];

/**
 * The answer of a `confirm` function. `because`: a no with its reason, which the model reads. `args`: the call shall run
 * with these arguments instead. Fairlead decides about them as about a new call, so it may ask again. `args` counts as a
 * no if the confirmation does not have `canEdit`.
 */
export type ConfirmationAnswer = ToolConfirmationOutcome | { readonly because: string } | { readonly args: JsonObject };

/**
 * The tool, prompt or resource that a confirmation is about. `serverName` and `serverToolName` identify it. All other
 * members are for display.
 */
export interface AskedTool {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly name: string;
  readonly description: string;
  readonly annotations?: JsonObject | undefined;
}

/** The rule that requires the confirmation, as text. */
export interface ConfirmationRule {
  readonly decision: "allow" | "ask_user" | "deny";
  readonly tier: string;
  readonly text: string;
  /** Only members of this group may confirm, and not the user who sends the request. Absent: the user confirms. */
  readonly approver?: string;
  /** Why Fairlead cannot tell whether the tool's definition has changed. */
  readonly doubt?: string;
  /** The next step if the rule stands for a policy file that Fairlead could not read: to correct the file. */
  readonly correction?: string;
}

/** A confirmation to show to the user. Its texts are as the server sent them, so escape them before you show them. */
export interface ToolCallConfirmationDetails {
  readonly type: "mcp";
  readonly title: string;
  /** What the request is for. Default: `tool`. */
  readonly kind?: RequestKind;
  readonly serverName: string;
  /** The name that the server gives the tool or prompt, or the resource's URI. */
  readonly toolName: string;
  /** The name that the model uses. */
  readonly toolDisplayName: string;
  readonly description: string;
  /** The exact arguments that will be sent, frozen. */
  readonly args: JsonObject;
  readonly annotations?: JsonObject;
  /** The rule that requires the confirmation. */
  readonly rule?: ConfirmationRule;
  /** How the definition differs from the accepted one; absent if there is no difference. */
  readonly change?: readonly Difference[];
  /** What is suspicious in the definition, to be shown. It changes no decision. */
  readonly flags?: readonly Flag[];
  /** The sandbox of the server's program, in words: `sandboxed: reads ~/notes, no network`. Absent if it has none. */
  readonly sandbox?: string;
  /** The answers to offer. A yes that is not in this list counts as `ProceedOnce`. */
  readonly outcomes: readonly ToolConfirmationOutcome[];
  /** Whether the `confirm` function may answer with other arguments. */
  readonly canEdit?: boolean;
  /**
   * Receives the user's answer. Only the first answer counts; without an answer, the tool does not run.
   *
   * @param how `typed` if Fairlead did not ask because the user typed the call. `edited` if the call shall run with other
   * arguments. If a gateway asked the user, the place where it asked. The history records this value.
   */
  readonly onConfirm: (outcome: ToolConfirmationOutcome, how?: "typed" | "edited" | AnswerPlace) => Promise<void>;
  /** Whether the definition has changed since the user was asked. If so, a yes has no effect. */
  readonly isOutdated?: () => boolean;
}

/**
 * Where the user confirmed a client's request: on the gateway's web page, in a form that the client showed, or in the
 * inbox. `grant`: in the inbox, before the client sent the request.
 */
export type AnswerPlace = "page" | "form" | "inbox" | "grant";

/** The input of `askAbout`, which creates a confirmation. */
export interface Question
  extends Pick<
    ToolCallConfirmationDetails,
    "kind" | "rule" | "change" | "flags" | "sandbox" | "outcomes" | "isOutdated"
  > {
  readonly answer: (outcome: ToolConfirmationOutcome, how?: "typed" | "edited" | AnswerPlace) => void | Promise<void>;
}

/** Creates a confirmation. Copies the arguments, so that the caller cannot change them later. */
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
    async onConfirm(outcome, how) {
      if (isAnswered) return;
      isAnswered = true;
      await answer(outcome, how);
    },
  };
}

/** Whether the answer is a yes. An unknown answer is a no. */
export function isYes(outcome: ToolConfirmationOutcome): boolean {
  return outcome !== ToolConfirmationOutcome.Cancel && Object.values(ToolConfirmationOutcome).includes(outcome);
}

/** Asks the user, in the program that embeds the host. */
export type Confirm = (details: ToolCallConfirmationDetails, signal: AbortSignal) => Promise<ConfirmationAnswer>;

/**
 * Asks the user to confirm a request. Calls `question` when the user can be asked. `question` returns the confirmation
 * to show, or `false` if the request no longer needs confirmation.
 *
 * @param until Aborted if no request waits for the answer any more, when that may be before the end of the sender's request.
 * @throws HostError `denied` if the user declines
 */
export type ConfirmPort = (
  question: () => Promise<ToolCallConfirmationDetails | false>,
  until?: AbortSignal,
) => Promise<void>;

/**
 * Creates a `ConfirmPort` that asks the user through the embedding program's function `confirm`. If `confirm` is
 * undefined, every request that needs confirmation is denied. `canEdit`: the user may change the arguments.
 */
export function confirmThrough(confirm: Confirm | undefined, signal: AbortSignal, canEdit = false): ConfirmPort {
  return async (question) => {
    const asked = await question();
    if (asked === false) return;
    const details = canEdit && (asked.kind ?? "tool") === "tool" ? { ...asked, canEdit } : asked;
    if (confirm === undefined) throw notAsked(details);
    await applyAnswer(details, await confirm(details, signal));
  };
}

/**
 * Tells the host the answer. `onUnsaved` receives the error if an approval could not be saved; without it, the error is
 * thrown.
 *
 * @throws HostError `denied` for a no
 */
export async function applyAnswer(
  details: ToolCallConfirmationDetails,
  answer: ConfirmationAnswer,
  onUnsaved?: (error: unknown) => void,
): Promise<void> {
  const given = isObject(answer) ? answer : {};
  if ("args" in given && details.canEdit === true) {
    const args = toPlainArguments(given["args"], details.serverName);
    await details.onConfirm(ToolConfirmationOutcome.Cancel, "edited");
    throw new EditedCall(details, args);
  }
  // A program without types may return anything. Whatever is not a yes is a no.
  const outcome = typeof answer === "string" ? answer : ToolConfirmationOutcome.Cancel;
  await details.onConfirm(outcome).catch((error: unknown) => {
    if (onUnsaved === undefined) throw error;
    onUnsaved(error);
  });
  if (isYes(outcome)) return;
  throw new DeclinedCall(details, textIn(given, "because"));
}

/** The error for a request that the user declined. `because`: the reason that the user gave. */
export class DeclinedCall extends HostError {
  readonly because: string | undefined;

  constructor({ serverName, toolName }: ToolCallConfirmationDetails, because?: string) {
    const reason = because === undefined || because.trim() === "" ? "" : `: ${because.trim()}`;
    super("denied", `${serverName}.${toolName} denied: the user declined it${reason}`, { serverName });
    this.because = reason === "" ? undefined : because;
  }
}

/** The error for a call that the user wants to run with other arguments. The call then begins again with these. */
export class EditedCall extends HostError {
  readonly args: JsonObject;

  constructor({ serverName, toolName }: ToolCallConfirmationDetails, args: JsonObject) {
    super("denied", `${serverName}.${toolName} denied: the user changed its arguments`, { serverName });
    this.args = args;
  }
}

/** Creates the error for a request about which the user could not be asked. */
function notAsked({ serverName, toolName, rule }: ToolCallConfirmationDetails): HostError {
  const tool = `${serverName}.${toolName}`;
  if (rule?.doubt !== undefined) return mayHaveChanged(serverName, tool, rule.doubt);
  return new HostError("denied", `${tool} denied: it needs confirmation and this program cannot ask for it`, {
    serverName,
    next: `Pass "confirm" to createHost(), or: fairlead policy allow ${toShellWord(tool)}`,
  });
}

/**
 * Creates the error for a tool whose definition may have changed. Fairlead cannot tell, because it cannot save accepted
 * definitions.
 */
export function mayHaveChanged(serverName: string, tool: string, doubt: string): HostError {
  const message = `${tool} denied: its definition may have changed since an earlier run: ${doubt}`;
  const next = "Make Fairlead's folder writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.";
  return new HostError("denied", message, { serverName, next });
}

/** Copies and freezes the arguments, so that the user sees exactly the arguments that will be sent. */
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
