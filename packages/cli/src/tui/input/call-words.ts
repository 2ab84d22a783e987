/** Tool calls that the user types: whether a text is one, and suggestions for tool names and parameters. */

import { splitTypedLines, splitWords } from "@fairlead/core/request";
import type { ConversationTool } from "@fairlead/core/turn";
import type { JsonObject } from "@fairlead/wire";
import { readObject } from "../../arguments/arguments.ts";
import type { CompletionAnswer } from "../../completion/answer.ts";
import { suggestParameters } from "../../completion/from-servers.ts";
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

/** Whether every line is a call of a tool in `tools`, such as `files.read path=a.txt`. */
export function isTypedCall(text: string, tools: () => readonly ConversationTool[]): boolean {
  const { lines, open } = splitTypedLines(text);
  if (lines.length === 0 || (open !== undefined && text.includes("\n")) || !lines.every(looksLikeCall)) return false;
  const names = new Set(tools().map(callName));
  return lines.every((line) => names.has(targetOf(line)));
}

function targetOf(line: string): string {
  const [, written] = /^([^\s=("']+)\(/.exec(line) ?? [];
  return written ?? splitWords(line)[0]?.text ?? "";
}

/** Whether a line looks like `server.tool name=value`. The tool need not exist. */
export function looksLikeCall(line: string): boolean {
  if (/^[^\s=("']+\.[^\s=("']+\([\s\S]*\)$/.test(line)) return true;
  const [, named, json] = /^([^\s=("']+)\s+(\{.*\})$/s.exec(line) ?? [];
  // Users copy calls from the transcript, which shows them as `server.tool {"key":"value"}`.
  if (named?.includes(".") && json !== undefined && readObject(json) !== undefined) return true;
  const [target, ...words] = splitWords(line).map(({ text }) => text);
  return target?.includes(".") === true && words.every((word) => /^[^\s=]+=/.test(word));
}
