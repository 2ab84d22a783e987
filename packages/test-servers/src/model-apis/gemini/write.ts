/** Writes a model's answer in the form of the Gemini API: as events of a stream, or as one body. */

import { type Reply, type StreamPiece, streamedReply, wholeReply } from "../reply.ts";
import type { Finish, ModelAnswer, Piece } from "../script.ts";
import type { GeminiPart } from "./request.ts";

/** What the writer needs for each answer. */
export interface GeminiWriting {
  readonly model: string;
  readonly inputTokens: number;
  /** Returns the id of the next call; undefined if calls have no ids. */
  readonly nextId: () => string | undefined;
  readonly nextSignature: () => string | undefined;
  readonly signsText: boolean;
}

interface Chunk {
  readonly candidates?: readonly {
    readonly content?: { readonly role: "model"; readonly parts: readonly GeminiPart[] };
    readonly finishReason?: string;
    readonly finishMessage?: string;
    readonly index: 0;
  }[];
  readonly promptFeedback?: { readonly blockReason: string };
}

export function streamAnswer(answer: ModelAnswer, writing: GeminiWriting): Reply {
  const events = chunksOf(answer, writing).map(
    (chunk): StreamPiece =>
      chunk instanceof Promise ? chunk : `data: ${JSON.stringify(withUsage(chunk, answer, writing))}\r\n\r\n`,
  );
  return streamedReply(events);
}

export function wholeAnswer(answer: ModelAnswer, writing: GeminiWriting): Reply {
  const chunks = chunksOf(answer, writing).flatMap((chunk) => (chunk instanceof Promise ? [] : [chunk]));
  const parts = chunks.flatMap(({ candidates = [] }) => candidates.flatMap(({ content }) => content?.parts ?? []));
  const last = chunks.at(-1) ?? {};
  const candidates = last.candidates?.map((candidate) => ({
    ...candidate,
    ...(parts.length > 0 && { content: { role: "model" as const, parts } }),
  }));
  return wholeReply(withUsage({ ...last, ...(candidates && { candidates }) }, answer, writing));
}

function chunksOf({ pieces, finish = "stop" }: ModelAnswer, writing: GeminiWriting): (Chunk | Promise<unknown>)[] {
  if (finish === "blocked") return [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }];
  const parts = toParts(pieces, writing);
  const chunks = parts.map((part) =>
    part instanceof Promise
      ? part
      : { candidates: [{ content: { role: "model" as const, parts: [part] }, index: 0 as const }] },
  );
  return finish === "cut" ? chunks : [...chunks, ending(finish, closingPart(pieces, writing))];
}

/** Signs only the first of several calls at once (ai.google.dev/gemini-api/docs/thought-signatures). */
function toParts(
  pieces: readonly Piece[],
  { nextId, nextSignature }: GeminiWriting,
): (GeminiPart | Promise<unknown>)[] {
  const first = pieces.findIndex((piece) => "call" in piece);
  return pieces.map((piece, index) => {
    if ("until" in piece) return piece.until;
    if ("text" in piece) return { text: piece.text };
    if ("thought" in piece) return { text: piece.thought, thought: true };
    const id = nextId();
    const thoughtSignature = index === first ? nextSignature() : undefined;
    const functionCall = { name: piece.call, args: piece.args ?? {}, ...(id !== undefined && { id }) };
    return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) };
  });
}

const reasons: Readonly<Record<Exclude<Finish, "blocked" | "empty" | "cut">, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  safety: "SAFETY",
  malformed_call: "MALFORMED_FUNCTION_CALL",
  other: "OTHER",
};

/** In a stream, a signature may come after the last text (ai.google.dev/gemini-api/docs/thought-signatures). */
function closingPart(pieces: readonly Piece[], { signsText, nextSignature }: GeminiWriting): GeminiPart {
  const hasCall = pieces.some((piece) => "call" in piece);
  const thoughtSignature = signsText && !hasCall ? nextSignature() : undefined;
  return { text: "", ...(thoughtSignature !== undefined && { thoughtSignature }) };
}

function ending(finish: Exclude<Finish, "blocked" | "cut">, last: GeminiPart): Chunk {
  if (finish === "empty") return { candidates: [] };
  const content = { role: "model" as const, parts: [last] };
  const finishMessage = "Malformed function call: print(default_api.";
  switch (finish) {
    case "stop":
    case "length":
      return { candidates: [{ content, finishReason: reasons[finish], index: 0 }] };
    case "safety":
    case "other":
      return { candidates: [{ finishReason: reasons[finish], index: 0 }] };
    case "malformed_call":
      return { candidates: [{ finishReason: reasons[finish], finishMessage, index: 0 }] };
  }
}

function withUsage(chunk: Chunk, { pieces }: ModelAnswer, { model, inputTokens }: GeminiWriting): object {
  const candidatesTokenCount = tokensIn(JSON.stringify(pieces));
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount,
    totalTokenCount: inputTokens + candidatesTokenCount,
  };
  return { ...chunk, usageMetadata, modelVersion: model, responseId: "a-response" };
}

/** Estimates the number of tokens: four characters are one token. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
