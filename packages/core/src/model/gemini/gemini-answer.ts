/** Converts the chunks of a Gemini API answer to events, and collects their content for the history. */

import type { GenerateContentResponse } from "@google/genai/web";
import type { Content, Part } from "../../normalise/model-types.ts";
import type { FinishReason, ModelCall, ModelEvent } from "../model.ts";

/** Collects one streamed answer, chunk by chunk. */
export interface GeminiAnswer {
  /** Reads a chunk of the answer and returns its events. */
  take(chunk: GenerateContentResponse): readonly ModelEvent[];
  /** Returns the last events; undefined if the answer is incomplete. */
  end(): readonly ModelEvent[] | undefined;
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ["SAFETY", "safety"],
  ["RECITATION", "safety"],
  ["BLOCKLIST", "safety"],
  ["PROHIBITED_CONTENT", "safety"],
  ["SPII", "safety"],
  ["IMAGE_SAFETY", "safety"],
  ["MALFORMED_FUNCTION_CALL", "malformed_call"],
  ["UNEXPECTED_TOOL_CALL", "malformed_call"],
]);

/** Starts an empty answer, for one request. */
export function createGeminiAnswer(): GeminiAnswer {
  let parts: Part[] = [];
  let finish: { readonly reason: FinishReason; readonly message?: string } | undefined;
  let usage: GenerateContentResponse["usageMetadata"];

  return {
    take({ candidates, promptFeedback, usageMetadata }) {
      usage = usageMetadata ?? usage;
      if (promptFeedback?.blockReason !== undefined)
        finish = { reason: "safety", message: `the prompt was blocked (${promptFeedback.blockReason})` };
      const [candidate] = candidates ?? [];
      const added = candidate?.content?.parts ?? [];
      parts = added.reduce(withPart, parts);
      if (candidate?.finishReason !== undefined) finish = toFinish(candidate.finishReason, candidate.finishMessage);
      return added.flatMap(said);
    },
    end() {
      if (finish === undefined) return undefined;
      const calls = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]));
      const nameless = calls.some(({ name = "" }) => name === "");
      const { reason, message } = nameless
        ? toFinish("MALFORMED_FUNCTION_CALL", "the model wrote a call without a name")
        : finish;
      const isUsable = reason !== "safety" && reason !== "malformed_call";
      const content: Content = {
        role: "model",
        parts: isUsable ? parts : parts.filter(({ functionCall }) => functionCall === undefined),
      };
      const usable = isUsable ? calls : [];
      return [
        ...usable.map(({ id, name = "", args = {} }) => toCallEvent({ id: id || undefined, name, args })),
        ...toUsage(usage),
        { type: "finish", reason, message, content },
      ];
    },
  };
}

function said({ text = "", thought = false }: Part): ModelEvent[] {
  return text === "" ? [] : [{ type: thought ? "thought" : "text", text }];
}

function toCallEvent(call: ModelCall): ModelEvent {
  return { type: "call", call };
}

function toFinish(given: string, message?: string): { readonly reason: FinishReason; readonly message?: string } {
  const reason = reasons.get(given) ?? "other";
  if (reason === "stop") return { reason };
  const what = reason === "malformed_call" ? "the model wrote an invalid call" : "the answer ended early";
  return { reason, message: message || `${what} (${given})` };
}

/** Adds a part to the list. A plain text is joined with the plain text before it; a part with a signature is not. */
function withPart(parts: Part[], part: Part): Part[] {
  const last = parts.at(-1);
  if (!isPlain(part)) return [...parts, part];
  if (part.text === "") return parts;
  if (last === undefined || !isPlain(last) || last.thought !== part.thought) return [...parts, part];
  return [...parts.slice(0, -1), { ...last, text: `${last.text}${part.text}` }];
}

function isPlain(part: Part): boolean {
  return part.text !== undefined && Object.keys(part).every((key) => key === "text" || key === "thought");
}

/** The number of used tokens. Each chunk contains the totals so far, so the last chunk has the final numbers. */
function toUsage(usage: GenerateContentResponse["usageMetadata"]): ModelEvent[] {
  if (usage === undefined) return [];
  const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0, cachedContentTokenCount } = usage;
  const outputTokens = candidatesTokenCount + thoughtsTokenCount;
  return [{ type: "usage", inputTokens: promptTokenCount, outputTokens, cachedTokens: cachedContentTokenCount }];
}
