/** Distinguishes a call that the user typed from a message to the model. Pure functions. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { readObject } from "../../arguments/arguments.ts";
import { callName } from "./call-words.ts";

/** Whether every line of the text is a call: `server.tool` of a known tool, followed only by arguments. */
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

/** Whether a line has the form of a call: `server.tool`, followed only by arguments. The tool need not exist. */
export function looksLikeCall(line: string): boolean {
  if (/^[^\s=("']+\.[^\s=("']+\([\s\S]*\)$/.test(line)) return true;
  const [, named, json] = /^([^\s=("']+)\s+(\{.*\})$/s.exec(line) ?? [];
  // The transcript shows a call as `server.tool {"key":"value"}`, so a line of this form is a call too.
  if (named?.includes(".") && json !== undefined && readObject(json) !== undefined) return true;
  const [target, ...words] = splitWords(line).map(({ text }) => text);
  return target?.includes(".") === true && words.every((word) => /^[^\s=]+=/.test(word));
}
