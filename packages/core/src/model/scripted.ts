/** A `Model` that replays answers from a script. */

import { isObject, parseObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { checkCancelled } from "./attempts.ts";
import type { FinishReason, Model, ModelEvent } from "./model.ts";

/** Options of `createScriptedModel`. */
export interface ScriptedOptions {
  /** The script: a conversation as JSON, one message on each line. */
  readonly script: string;
  /** The name of the script in messages. Default: "the script". */
  readonly source?: string;
}

/**
 * Creates a `Model` that replays the answers of a script, for tests and for demonstrations without a network.
 *
 * @throws HostError `model` while streaming, when the script has no answer left or expects a different request
 */
export function createScriptedModel({ script, source = "the script" }: ScriptedOptions): Model {
  const answers = readScript(script, source);
  let played = 0;
  return {
    provider: "scripted",
    name: source,
    dialect: "gemini",
    maxDeclarations: Number.POSITIVE_INFINITY,
    async *stream(messages, _tools, signal) {
      checkCancelled(signal);
      const answer = answers[played];
      if (answer === undefined)
        throw new HostError(
          "model",
          `${source} has only ${answers.length} answers, but the conversation needs answer ${played + 1}`,
        );
      played += 1;
      const missing = missingIn(messages, answer);
      if (missing !== undefined)
        throw new HostError("model", `${source}, line ${answer.line}: the request before this answer ${missing}`);
      for (const event of eventsOf(answer)) {
        checkCancelled(signal);
        yield event;
      }
    },
  };
}

function* eventsOf({ content, finish }: ScriptedAnswer): Generator<ModelEvent, void, undefined> {
  for (const { text, thought } of content.parts) if (text) yield { type: thought === true ? "thought" : "text", text };
  for (const { functionCall } of content.parts) {
    const { id, name = "", args = {} } = functionCall ?? {};
    if (functionCall !== undefined) yield { type: "call", call: { id: id || undefined, name, args } };
  }
  yield { type: "finish", ...finish, content };
}

/** Says which expected text or response the latest messages do not contain; undefined if they contain all. */
function missingIn(messages: readonly Content[], { expected }: ScriptedAnswer): string | undefined {
  const parts = messages
    .slice(messages.findLastIndex(({ role }) => role === "model") + 1)
    .flatMap((each) => each.parts);
  const said = squeeze(parts.map(textOf).join(" "));
  const text = expected.flatMap((part) => part.text ?? []).find((each) => !said.includes(squeeze(each)));
  if (text !== undefined) return `does not contain "${text}"`;
  const [wanted, given] = [namesIn(expected), namesIn(parts)];
  if (wanted.length === 0 || wanted.join() === given.join()) return undefined;
  return `answers ${given.join(", ") || "no function"}, not ${wanted.join(", ")}`;
}

function textOf({ text, functionResponse }: Part): string {
  return text ?? (functionResponse === undefined ? "" : JSON.stringify(functionResponse.response ?? {}));
}

function namesIn(parts: readonly Part[]): string[] {
  return parts.flatMap(({ functionResponse }) => functionResponse?.name ?? []);
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

interface ScriptedAnswer {
  /** The answer's line in the script. */
  readonly line: number;
  readonly content: Content;
  readonly finish: { readonly reason: FinishReason; readonly message?: string };
  /** Parts that the request must contain. */
  readonly expected: readonly Part[];
}

const reasons: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "safety", "malformed_call", "other"]);

/**
 * Parses a script. Each line is one message as JSON:
 *
 *     {"role":"user","parts":[{"text":"What is 2 + 3?"}]}
 *     {"role":"model","parts":[{"functionCall":{"name":"add","args":{"a":2,"b":3}}}]}
 *     {"role":"user","parts":[{"functionResponse":{"name":"add"}}]}
 *     {"role":"model","parts":[{"text":"5"}],"finish":{"reason":"stop"}}
 *
 * A line with the role `model` is an answer; `finish` is optional. A line with the role `user` describes the request
 * before the next answer: the request must contain the same texts, and responses of the same functions in the same
 * order. Empty lines and lines that begin with # are skipped.
 *
 * @param source The name of the script in messages.
 * @throws HostError `model`
 */
function readScript(text: string, source: string): readonly ScriptedAnswer[] {
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
    throw new HostError("model", `${where} must be a message: {"role": "user" or "model", "parts": […]}`);
  return { content: { role, parts }, finish: readFinish(finish, where) };
}

function readFinish(finish: unknown, where: string): ScriptedAnswer["finish"] {
  if (finish === undefined) return { reason: "stop" };
  const { reason, message } = isObject(finish) ? finish : {};
  if (!isReason(reason)) throw new HostError("model", `${where}: "finish" needs a reason: ${[...reasons].join(", ")}`);
  return { reason, message: typeof message === "string" ? message : undefined };
}

function isReason(given: unknown): given is FinishReason {
  return typeof given === "string" && reasons.has(given);
}
