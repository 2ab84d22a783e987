/** Writes a model's answer in the form of OpenAI's API: as events of a stream, or as one body. */

import { type Reply, type StreamPiece, streamedReply, wholeReply } from "../reply.ts";
import type { ModelAnswer, Piece } from "../script.ts";
import { type CallToWrite, deltasOf } from "./call-deltas.ts";
import { openaiError } from "./errors.ts";
import type { OpenaiSettings } from "./settings.ts";

export interface OpenaiWriting {
  readonly model: string;
  readonly inputTokens: number;
  readonly hasUsage: boolean;
  readonly nextId: () => string;
  readonly settings: OpenaiSettings;
}

const blocked = "The response was filtered due to the prompt triggering the content management policy.";

export function streamAnswer(answer: ModelAnswer, writing: OpenaiWriting): Reply {
  const { finish = "stop" } = answer;
  if (finish === "blocked") return openaiError(400, blocked, { param: "prompt", code: "content_filter" });
  const { settings, hasUsage } = writing;
  const choice = (delta: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta, finish_reason: reason }] }, writing);
  const said = answer.pieces.flatMap((piece) => saidIn(piece, settings, choice));
  const called = deltasOf(callsIn(answer, writing), settings).map((delta) => choice({ tool_calls: [delta] }));
  return streamedReply([
    choice({ role: "assistant", content: "" }),
    ...said,
    ...called,
    ...(finish === "cut" ? [] : [finish === "empty" ? event({ choices: [] }, writing) : choice({}, reasonOf(answer))]),
    ...(hasUsage && finish !== "cut" ? [event({ choices: [], usage: usageOf(answer, writing) }, writing)] : []),
    ...(settings.hasDone && finish !== "cut" ? ["data: [DONE]\n\n"] : []),
  ]);
}

export function wholeAnswer(answer: ModelAnswer, writing: OpenaiWriting): Reply {
  if (answer.finish === "blocked") return openaiError(400, blocked, { param: "prompt", code: "content_filter" });
  const tool_calls = callsIn(answer, writing).map(({ id, name, text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const content = answer.pieces.map((piece) => ("text" in piece ? piece.text : "")).join("");
  const message = { role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) };
  const choices = answer.finish === "empty" ? [] : [{ index: 0, message, finish_reason: reasonOf(answer) }];
  return wholeReply({ ...frame("chat.completion", writing), choices, usage: usageOf(answer, writing) });
}

function saidIn(piece: Piece, settings: OpenaiSettings, choice: (delta: object) => string): StreamPiece[] {
  if ("until" in piece) return [piece.until];
  if ("text" in piece) return [choice({ content: piece.text })];
  return "thought" in piece ? [choice({ [settings.thoughtField]: piece.thought })] : [];
}

function callsIn({ pieces }: ModelAnswer, { nextId }: OpenaiWriting): CallToWrite[] {
  return pieces.flatMap((piece) =>
    "call" in piece
      ? [{ id: nextId(), name: piece.call, text: piece.rawArguments ?? JSON.stringify(piece.args ?? {}) }]
      : [],
  );
}

function reasonOf({ pieces, finish = "stop" }: ModelAnswer): string {
  if (finish === "length") return "length";
  if (finish === "safety") return "content_filter";
  return pieces.some((piece) => "call" in piece) ? "tool_calls" : "stop";
}

function event(body: object, writing: OpenaiWriting): string {
  return `data: ${JSON.stringify({ ...frame("chat.completion.chunk", writing), ...body })}\n\n`;
}

function frame(object: string, { model }: OpenaiWriting): object {
  return { id: "chatcmpl-1", object, created: 0, model };
}

function usageOf({ pieces }: ModelAnswer, { inputTokens }: OpenaiWriting): object {
  const completion_tokens = Math.ceil(JSON.stringify(pieces).length / 4);
  return { prompt_tokens: inputTokens, completion_tokens, total_tokens: inputTokens + completion_tokens };
}
