/** The thoughts that a model had: each has a signature, and belongs to one model. */

import type { ContentBlock } from "./request.ts";

export interface Thoughts {
  /** Writes a thought as a block with a new signature. */
  readonly write: (text: string, model: string, isRedacted: boolean) => ContentBlock;
  /** Remembers that the model thought before it made this call. */
  readonly precede: (callId: string, model: string) => void;
  /** Whether a block is exactly what this model once sent. */
  readonly isOwn: (block: ContentBlock, model: string) => boolean;
  /** Whether the call must come back with a thought. */
  readonly needs: (callId: string, model: string) => boolean;
}

export function createThoughts(): Thoughts {
  const written = new Set<string>();
  const calls = new Set<string>();
  const keyOf = ({ type, thinking, signature, data }: ContentBlock, model: string): string =>
    JSON.stringify([type, thinking, signature, data, model]);
  return {
    write(text, model, isRedacted) {
      const encrypted = Buffer.from(`${model} ${written.size} ${text}`).toString("base64");
      const block: ContentBlock = isRedacted
        ? { type: "redacted_thinking", data: encrypted }
        : { type: "thinking", thinking: text, signature: encrypted };
      written.add(keyOf(block, model));
      return block;
    },
    precede: (callId, model) => void calls.add(`${callId} ${model}`),
    isOwn: (block, model) => written.has(keyOf(block, model)),
    needs: (callId, model) => calls.has(`${callId} ${model}`),
  };
}
