/** Decides whether entered text is a tool call or a message to the model. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { readObject } from "../../arguments/arguments.ts";
import { callName } from "./call-words.ts";

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
