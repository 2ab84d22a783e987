/** Suggestions while the user types a tool call: tool names, then the tool's parameters. */

import type { ConversationTool } from "@fairlead/core/turn/conversation";
import type { JsonObject } from "@fairlead/wire";
import type { CompletionAnswer } from "../../completion/answer.ts";
import { suggestParameters } from "../../completion/parameter-words.ts";
import { targetName } from "../../targets/target.ts";
import { type CompletionItem, rank } from "./completion.ts";

/** A tool that the user can call, with the schema from which parameters are suggested. */
export interface CallTarget extends ConversationTool {
  readonly inputSchema: JsonObject;
}

const mostTools = 50;

/** Returns the tools whose name matches the typed text, best first. Leaves out disabled and quarantined tools. */
export function offerTargets(typed: string, tools: readonly CallTarget[]): readonly CompletionItem[] {
  const isCallable = ({ enabled, quarantined }: CallTarget): boolean => enabled && quarantined === undefined;
  return rank(tools.filter(isCallable), typed, callName, mostTools).map((tool) => ({
    value: callName(tool),
    about: tool.description,
  }));
}

/** Returns all tools as suggestions, for a slash command with a tool as its argument. Includes disabled tools. */
export function offerTools(tools: readonly ConversationTool[]): readonly CompletionItem[] {
  return tools.map((tool) => ({ value: callName(tool), about: tool.description }));
}

/** Suggests parameter names, their values, or files after `@`. Returns undefined if `target` is no known tool. */
export function offerArguments(
  target: string,
  before: readonly string[],
  typed: string,
  tools: readonly CallTarget[],
): CompletionAnswer | undefined {
  const meant = tools.find((tool) => callName(tool) === target || tool.name === target);
  return meant && suggestParameters(meant.inputSchema, before, typed);
}

/** Returns the words that match the typed text, best first. Returns an empty list if the answer stands for files. */
export function toSuggestions(answer: CompletionAnswer, typed: string): readonly CompletionItem[] {
  if (answer.kind !== "words") return [];
  return rank(answer.candidates, typed, ({ value }) => value, mostTools);
}

/** Returns the name that the user types for a tool: `server.tool`. */
export function callName({ server, serverToolName }: Pick<ConversationTool, "server" | "serverToolName">): string {
  return targetName({ server, tool: serverToolName });
}
