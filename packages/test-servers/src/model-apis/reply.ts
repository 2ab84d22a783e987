/** An API's answer, complete or in pieces, and the functions that send it. */

import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { type Answer, json } from "../authorization-server/answer.ts";

/** A piece of a stream. Text is sent; for a promise, the server waits. */
export type StreamPiece = string | Promise<unknown>;

export interface Reply extends Answer {
  /** The pieces of a stream. Together they are the body. */
  readonly pieces: readonly StreamPiece[];
}

export function wholeReply(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  const answer = json(body, status, headers);
  return { ...answer, pieces: [answer.body] };
}

export function streamedReply(pieces: readonly StreamPiece[]): Reply {
  const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
  return { status: 200, headers, body: pieces.filter((piece) => typeof piece === "string").join(""), pieces };
}

/** Sends a reply. `bytes`: maximum size of a write, even if it cuts a line or a character. */
export async function sendReply(
  response: ServerResponse,
  reply: Reply,
  bytes: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  await sendPieces(response, reply, reply.pieces, bytes);
  response.end();
}

/** Sends the headers and these pieces, and leaves the response open. */
export async function sendPieces(
  response: ServerResponse,
  { status, headers }: Reply,
  pieces: readonly StreamPiece[],
  bytes: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  response.writeHead(status, headers).flushHeaders();
  for (const piece of pieces) {
    if (typeof piece !== "string") await piece;
    else for (const slice of slices(Buffer.from(piece), bytes)) await write(response, slice);
    if (response.destroyed) return;
  }
}

function slices(text: Buffer, bytes: number): Buffer[] {
  if (text.length <= bytes) return [text];
  return Array.from({ length: Math.ceil(text.length / bytes) }, (_, index) =>
    text.subarray(index * bytes, (index + 1) * bytes),
  );
}

/** Sends a slice, and waits until it is sent, because several writes at once may arrive as one. */
async function write(response: ServerResponse, slice: Buffer): Promise<void> {
  await new Promise<void>((resolve) => void response.write(slice, () => resolve()));
  await setImmediate();
}
