/**
 * Parses a recorded conversation, one content per line, as JSON:
 *
 *     {"role":"user","parts":[{"text":"What is 2 + 3?"}]}
 *     {"role":"model","parts":[{"functionCall":{"name":"add","args":{"a":2,"b":3}}}]}
 *     {"role":"user","parts":[{"functionResponse":{"name":"add"}}]}
 *     {"role":"model","parts":[{"text":"5"}],"finish":{"reason":"stop"}}
 *
 * Lines of the model are its answers, in order; `finish` is optional. Lines of the user are what the request before an answer must
 * contain: the texts, anywhere in it, and the answered functions, in order. Empty lines and lines that begin with # are skipped.
 */

import { isObject, parseObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import type { FinishReason } from "./model.ts";

/** One answer of a script. */
export interface ScriptedAnswer {
  /** Its line in the script. */
  readonly line: number;
  readonly content: Content;
  readonly finish: { readonly reason: FinishReason; readonly message?: string };
  /** What the request must contain. */
  readonly expected: readonly Part[];
}

const reasons: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "safety", "malformed_call", "other"]);

/**
 * Parses a script.
 *
 * @param source The name of the script in messages.
 * @throws HostError `model`
 */
export function readScript(text: string, source: string): readonly ScriptedAnswer[] {
  const answers: ScriptedAnswer[] = [];
  let expected: Part[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const { content, finish } = readLine(line, `${source}, line ${at + 1}`);
    if (content.role === "user") expected = [...expected, ...content.parts];
    else {
      answers.push({ line: at + 1, content, finish, expected });
      expected = [];
    }
  }
  return answers;
}

function readLine(line: string, where: string): Pick<ScriptedAnswer, "content" | "finish"> {
  const { role, parts, finish } = parseObject(line) ?? {};
  if ((role !== "user" && role !== "model") || !Array.isArray(parts) || !parts.every(isObject))
    throw new HostError("model", `${where} is not a content: {"role": "user" or "model", "parts": […]}`);
  return { content: { role, parts }, finish: readFinish(finish, where) };
}

function readFinish(finish: unknown, where: string): ScriptedAnswer["finish"] {
  if (finish === undefined) return { reason: "stop" };
  const { reason, message } = isObject(finish) ? finish : {};
  if (!isReason(reason)) throw new HostError("model", `${where}: "finish" needs a reason: ${[...reasons].join(", ")}`);
  return { reason, ...(typeof message === "string" && { message }) };
}

function isReason(given: unknown): given is FinishReason {
  return typeof given === "string" && reasons.has(given);
}
