/** Writes a model's answer in the form of Anthropic's API: as events of a stream, or as one body. */

import { type Reply, type StreamPiece, streamedReply, wholeReply } from "../reply.ts";
import type { ModelAnswer, Piece } from "../script.ts";
import type { ContentBlock } from "./request.ts";
import type { AnthropicSettings } from "./settings.ts";
import type { Thoughts } from "./thoughts.ts";

export interface AnthropicWriting {
  readonly model: string;
  readonly inputTokens: number;
  /** How many of these tokens come from the cache. */
  readonly cachedTokens: number;
  readonly nextId: () => string;
  readonly settings: AnthropicSettings;
  readonly thoughts: Thoughts;
}

/** A block, and the deltas in which it arrives. */
interface WrittenBlock {
  readonly block: ContentBlock;
  readonly empty: ContentBlock;
  readonly deltas: readonly (object | Promise<unknown>)[];
}

export function wholeAnswer(answer: ModelAnswer, writing: AnthropicWriting): Reply {
  const content = blocksFor(answer, writing).map(({ block }) => block);
  return wholeReply({ ...frame(writing), content, stop_reason: reasonOf(answer), usage: usageOf(answer, writing) });
}

export function streamAnswer(answer: ModelAnswer, writing: AnthropicWriting): Reply {
  const usage = usageOf(answer, writing);
  const isCut = answer.finish === "cut";
  return streamedReply([
    event("message_start", { message: { ...frame(writing), content: [], stop_reason: null, usage } }),
    event("ping", {}),
    ...blocksFor(answer, writing).flatMap(({ empty, deltas }, index): StreamPiece[] => [
      event("content_block_start", { index, content_block: empty }),
      ...deltas.map((delta) => (delta instanceof Promise ? delta : event("content_block_delta", { index, delta }))),
      event("content_block_stop", { index }),
    ]),
    ...(isCut
      ? []
      : [
          event("message_delta", {
            delta: { stop_reason: reasonOf(answer), stop_sequence: null },
            usage: { output_tokens: usage.output_tokens },
          }),
          event("message_stop", {}),
        ]),
  ]);
}

/** Texts in a row become one block. */
function blocksFor({ pieces }: ModelAnswer, writing: AnthropicWriting): WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  let hasThought = false;
  for (const piece of pieces) {
    const last = blocks.at(-1);
    if ("until" in piece) {
      if (last) blocks[blocks.length - 1] = { ...last, deltas: [...last.deltas, piece.until] };
    } else if ("text" in piece && last?.block.type === "text")
      blocks[blocks.length - 1] = {
        ...last,
        block: { ...last.block, text: `${last.block.text}${piece.text}` },
        deltas: [...last.deltas, { type: "text_delta", text: piece.text }],
      };
    else {
      hasThought ||= "thought" in piece;
      blocks.push(toBlock(piece, hasThought, writing));
    }
  }
  return blocks;
}

function toBlock(piece: Exclude<Piece, { readonly until: unknown }>, hasThought: boolean, writing: AnthropicWriting) {
  const { model, nextId, settings, thoughts } = writing;
  if ("text" in piece) {
    const deltas = [{ type: "text_delta", text: piece.text }];
    return { block: { type: "text", text: piece.text }, empty: { type: "text", text: "" }, deltas };
  }
  if ("thought" in piece) {
    const block = thoughts.write(piece.thought, model, settings.redactsThoughts);
    if (settings.redactsThoughts) return { block, empty: block, deltas: [] };
    const empty = { type: "thinking", thinking: "", signature: "" };
    const signature = { type: "signature_delta", signature: block.signature };
    return { block, empty, deltas: [{ type: "thinking_delta", thinking: piece.thought }, signature] };
  }
  const block: ContentBlock = { type: "tool_use", id: nextId(), name: piece.call, input: piece.args ?? {} };
  if (hasThought) thoughts.precede(block.id ?? "", model);
  // An answer without arguments has one empty piece.
  const text = piece.rawArguments ?? (piece.args === undefined ? "" : JSON.stringify(piece.args));
  const slices = text.match(new RegExp(`[\\s\\S]{1,${settings.charactersPerPiece}}`, "g")) ?? [];
  const deltas = ["", ...slices].map((partial_json) => ({ type: "input_json_delta", partial_json }));
  return { block, empty: { ...block, input: {} }, deltas };
}

function reasonOf({ pieces, finish = "stop" }: ModelAnswer): string {
  if (finish === "length") return "max_tokens";
  if (finish === "safety" || finish === "blocked") return "refusal";
  if (finish === "other") return "pause_turn";
  return pieces.some((piece) => "call" in piece) ? "tool_use" : "end_turn";
}

function frame({ model }: AnthropicWriting): object {
  return { id: "msg_1", type: "message", role: "assistant", model, stop_sequence: null };
}

function usageOf({ pieces }: ModelAnswer, { inputTokens, cachedTokens }: AnthropicWriting) {
  return {
    input_tokens: inputTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: Math.ceil(JSON.stringify(pieces).length / 4),
  };
}

function event(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
