/** Suggestions while the user types a call: tool names first, then the parameters of the tool. Pure functions. */

import type { ConversationTool } from "@fairlead/core/turn/conversation";
import type { JsonObject } from "@fairlead/wire";
import type { CompletionAnswer } from "../../completion/answer.ts";
import { suggestParameters } from "../../completion/parameter-words.ts";
import { targetName } from "../../targets/target.ts";
import { type CompletionItem, rank } from "./completion.ts";

export interface CallTarget extends ConversationTool {
  readonly inputSchema: JsonObject;
}

const mostTools = 50;

export function offerTargets(typed: string, tools: readonly CallTarget[]): readonly CompletionItem[] {
  const isCallable = ({ enabled, quarantined }: CallTarget): boolean => enabled && quarantined === undefined;
  return rank(tools.filter(isCallable), typed, callName, mostTools).map((tool) => ({
    value: callName(tool),
    about: tool.description,
  }));
}

/** Returns all tools as suggestions, for a slash command that takes a tool. */
export function offerTools(tools: readonly ConversationTool[]): readonly CompletionItem[] {
  return tools.map((tool) => ({ value: callName(tool), about: tool.description }));
}

/** Suggests parameter names and values, or files after `@`. */
export function offerArguments(
  target: string,
  before: readonly string[],
  typed: string,
  tools: readonly CallTarget[],
): CompletionAnswer | undefined {
  const meant = tools.find((tool) => callName(tool) === target || tool.name === target);
  return meant && suggestParameters(meant.inputSchema, before, typed);
}

/** Returns the suggestions that match the typed text. */
export function toSuggestions(answer: CompletionAnswer, typed: string): readonly CompletionItem[] {
  if (answer.kind !== "words") return [];
  return rank(answer.candidates, typed, ({ value }) => value, mostTools);
}

export function callName({ server, serverToolName }: Pick<ConversationTool, "server" | "serverToolName">): string {
  return targetName({ server, tool: serverToolName });
}
