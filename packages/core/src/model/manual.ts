/** A `Model` without a language model: the user types tool calls, which run one after another. */

import type { Content, FunctionDeclaration, Part } from "../normalise/model-types.ts";
import { splitTypedLines } from "../resources/typed-lines.ts";
import { checkCancelled } from "./attempts.ts";
import type { Model, ModelCall, ModelEvent } from "./model.ts";

/** The result of parsing a line. */
export type ManualLine =
  | { readonly kind: "call"; readonly call: ModelCall }
  | { readonly kind: "message"; readonly text: string };

/** Options of `createManualModel`. */
export interface ManualOptions {
  /** Parses a line that the user typed, in the syntax of `fairlead call`. If this function throws, the turn ends. */
  readonly parse: (line: string, tools: readonly FunctionDeclaration[]) => ManualLine | Promise<ManualLine>;
  /** Returns the text that tells the user that `left` lines were not run, because an earlier line failed. */
  readonly onStopped?: (left: number) => string;
}

/**
 * Creates a `Model` that parses each line of the user's message as a tool call. A line break inside quotes does not end
 * a line. If a line fails, the lines after it are not run.
 */
export function createManualModel({ parse, onStopped = stoppedText }: ManualOptions): Model {
  return {
    provider: "manual",
    name: "manual",
    dialect: "gemini",
    maxDeclarations: Number.POSITIVE_INFINITY,
    async *stream(messages, tools, signal) {
      checkCancelled(signal);
      const { lines, hasFailed } = linesLeft(messages);
      const [line, ...others] = lines;
      if (line === undefined) return yield finished([]);
      if (hasFailed) return yield* say(onStopped(lines.length), signal);
      const read = await parse(line, tools);
      checkCancelled(signal);
      if (read.kind === "message")
        return yield* say(others.length === 0 ? read.text : `${read.text}\n\n${onStopped(others.length)}`, signal);
      yield { type: "call", call: read.call };
      yield finished([{ functionCall: { ...read.call } }]);
    },
  };
}

function* say(text: string, signal: AbortSignal): Generator<ModelEvent, void, undefined> {
  yield { type: "text", text };
  checkCancelled(signal);
  yield finished([{ text }]);
}

function stoppedText(left: number): string {
  return left === 1 ? "The last line was not run." : `The other ${left} lines were not run.`;
}

function finished(parts: Part[]): ModelEvent {
  return { type: "finish", reason: "stop", content: { role: "model", parts } };
}

/**
 * Returns the lines of the user's last message that have not run, and whether the tool call in the previous line
 * failed. Only the first part of that message is typed text.
 */
function linesLeft(messages: readonly Content[]) {
  const at = messages.findLastIndex(({ role, parts }) => role === "user" && parts[0]?.text !== undefined);
  const { lines } = splitTypedLines(messages[at]?.parts[0]?.text ?? "");
  const since = messages.slice(at + 1);
  const answers = since.filter(({ role }) => role === "model").flatMap(({ parts }) => parts);
  const responses = since.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
  return {
    lines: lines.slice(answers.length),
    hasFailed: responses.some(({ response = {} }) => Object.hasOwn(response, "error")),
  };
}
