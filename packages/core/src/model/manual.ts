/** A `Model` without a language model: the user types the calls, which run one after another. */

import type { Content, FunctionDeclaration, Part } from "../normalise/model-types.ts";
import { checkCancelled } from "./attempts.ts";
import type { Model, ModelCall, ModelEvent } from "./model.ts";

/** The result of parsing a line. */
export type ManualLine =
  | { readonly kind: "call"; readonly call: ModelCall }
  | { readonly kind: "message"; readonly text: string };

/** Options of `createManualModel`. */
export interface ManualOptions {
  /** Parses a line that the user typed, in the syntax of `fairlead call`. An error that it throws ends the turn. */
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
 * The typed lines that have not run yet. Lines that have run are not parsed again, because their tool may be gone. Only
 * the first part of a message is typed; the others are contents, not commands.
 */
function linesLeft(messages: readonly Content[]): readonly string[] {
  const at = messages.findLastIndex(
    ({ role, parts }) => role === "user" && parts.every(({ functionResponse }) => functionResponse === undefined),
  );
  const lines = messages[at]?.parts[0]?.text?.split("\n").map((line) => line.trim()) ?? [];
  const answers = messages.slice(at + 1).filter(({ role }) => role === "model");
  return lines.filter((line) => line !== "").slice(answers.flatMap(({ parts }) => parts).length);
}
