/** No model: the person drives. Each line that they send is a call, or is answered with a message; calls are made one after the other. */

import type { Content, FunctionDeclaration, Part } from "../normalise/model-types.ts";
import { checkCancelled } from "./attempts.ts";
import type { Model, ModelCall, ModelEvent } from "./model.ts";

/** What a line comes to. */
export type ManualLine =
  | { readonly kind: "call"; readonly call: ModelCall }
  | { readonly kind: "message"; readonly text: string };

export interface ManualOptions {
  /** Reads a line that the person typed, in the syntax of `fairlead call`; what it throws ends the turn. */
  readonly parse: (line: string, tools: readonly FunctionDeclaration[]) => ManualLine | Promise<ManualLine>;
}

/** Makes a `Model` without a language model: each line that the user sends is parsed as a tool call. */
export function createManualModel({ parse }: ManualOptions): Model {
  return {
    provider: "manual",
    name: "manual",
    dialect: "gemini",
    maxDeclarations: Number.POSITIVE_INFINITY,
    takesMediaInResponses: true,
    async *stream(messages, tools, signal) {
      checkCancelled(signal);
      const parts: Part[] = [];
      for (const line of linesLeft(messages)) {
        const read = await parse(line, tools);
        checkCancelled(signal);
        if (read.kind === "call") {
          yield { type: "call", call: read.call };
          parts.push({ functionCall: { ...read.call } });
          break;
        }
        yield { type: "text", text: read.text };
        parts.push({ text: read.text });
      }
      yield finished(parts);
    },
  };
}

function finished(parts: Part[]): ModelEvent {
  return { type: "finish", reason: "stop", content: { role: "model", parts } };
}

/**
 * What was typed last, without the lines that had their turn: each has become a part of an answer. They are not read again, since
 * the tool that they name may be gone by now. What comes behind the typed part, or from tools, is no command.
 */
function linesLeft(messages: readonly Content[]): readonly string[] {
  const at = messages.findLastIndex(({ role, parts }) => role === "user" && !parts.some(isResponse));
  const lines = messages[at]?.parts[0]?.text?.split("\n").map((line) => line.trim()) ?? [];
  const answers = messages.slice(at + 1).filter(({ role }) => role === "model");
  return lines.filter((line) => line !== "").slice(answers.flatMap(({ parts }) => parts).length);
}

function isResponse({ functionResponse }: Part): boolean {
  return functionResponse !== undefined;
}
