/**
 * Keeps the thoughts of Anthropic's models in the history. After a call of a tool, the API wants them back unchanged. It
 * refuses thoughts of another model, so the signature in the history names the model. Pure.
 */

import type { Part } from "../../normalise/model-types.ts";

/** A thought in the form of the API. A redacted thought is encrypted. */
export type ThinkingBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** Converts a thought to a part of the history. Base64 has no `@`, so that no other API takes the signature for its own. */
export function toThought(block: ThinkingBlock, model: string): Part {
  return block.type === "thinking"
    ? { text: block.thinking, thought: true, thoughtSignature: `thinking@${model}@${block.signature}` }
    : { text: "", thought: true, thoughtSignature: `redacted@${model}@${block.data}` };
}

/** Converts a part of the history back. Undefined if the thought is not from this model. */
export function toThinkingBlock({ text = "", thoughtSignature = "" }: Part, model: string): ThinkingBlock | undefined {
  const [thinking, redacted] = [`thinking@${model}@`, `redacted@${model}@`];
  if (thoughtSignature.startsWith(thinking))
    return { type: "thinking", thinking: text, signature: thoughtSignature.slice(thinking.length) };
  if (thoughtSignature.startsWith(redacted))
    return { type: "redacted_thinking", data: thoughtSignature.slice(redacted.length) };
  return undefined;
}
