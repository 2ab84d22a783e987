/** Converts an HTTP response to JSON-RPC messages or to a `WireError`. */

import { WireError, type WireEvidence } from "../errors.ts";
import type { ChannelEvents, RpcMessage } from "../rpc/channel.ts";
import { type HeldMessage, LargeMessages } from "../rpc/large-messages.ts";
import type { ReadBudget } from "../rpc/read-budget.ts";
import { decodeInSlices, decodePieces } from "../shapes/decode.ts";
import { excerpt, isObject, parseJson, stringOf } from "../shapes/json.ts";
import { longJson, parseLongJson } from "../shapes/sliced-json.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import { type HttpAnswer, readStart, redactSent } from "./http-client.ts";

/** The kind of an HTTP response, according to its content type. */
export type AnswerKind = "json" | "events" | "empty" | "other";

/** Classifies a response by its headers. */
export function kindOf(answer: HttpAnswer): AnswerKind {
  const { status, headers } = answer;
  const type = contentTypeOf(answer);
  if (type.startsWith("application/json")) return "json";
  if (type.startsWith("text/event-stream")) return "events";
  return status === 202 || status === 204 || headers["content-length"] === "0" ? "empty" : "other";
}

/**
 * Reads the complete body as JSON, and returns its value and its size in bytes. The value is undefined if the body is
 * empty. A long text is parsed in steps, so that other events are not blocked.
 *
 * @throws WireError `bad_message` if it is not JSON, `too_large` if the parsed values would take too much memory.
 */
export async function readSizedJson(
  answer: HttpAnswer,
  maxBytes: number,
  largeMessages: LargeMessages = new LargeMessages(),
): Promise<{ readonly value: unknown; readonly size: number }> {
  const message = largeMessages.begin();
  try {
    return await parseBody(answer, await readText(answer, maxBytes, message));
  } finally {
    message.release();
  }
}

async function parseBody(
  answer: HttpAnswer,
  written: string,
): Promise<{ readonly value: unknown; readonly size: number }> {
  const text = written.charCodeAt(0) === 0xfeff ? written.slice(1) : written;
  if (text === "") return { value: undefined, size: 0 };
  const value = text.length < longJson ? parseJson(text) : await parseLongJson(text);
  if (value !== undefined) return { value, size: Buffer.byteLength(text) };
  throw new WireError("bad_message", "the server's response has the content type JSON but is not JSON", {
    ...evidenceOf(answer),
    firstBytes: redactSent(text.slice(0, 512), answer.sent),
  });
}

/** Uses event listeners, because `for await` would take several times as long as parsing a small response. */
function readText(answer: HttpAnswer, maxBytes: number, message: HeldMessage): Promise<string> {
  const { body } = answer;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    body.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return waitForTurn();
      reject(new WireError("too_large", `the server's response is larger than ${maxBytes} bytes`));
      body.destroy();
    });
    function waitForTurn(): void {
      message.hold(size);
      const turn = message.turn();
      if (turn === undefined) return;
      body.pause();
      void turn.then(() => body.resume());
    }
    body.on("end", () => resolve(size < longJson ? decodePieces(chunks, size) : decodeInSlices(chunks)));
    const cut = (cause?: Error): void =>
      reject(
        cause instanceof WireError
          ? cause
          : new WireError("stream_lost", "the server's response broke off", evidenceOf(answer), { cause }),
      );
    body.on("error", cut);
    body.on("close", () => {
      if (!body.readableEnded) cut();
    });
  });
}

/**
 * Returns a message as the body of a request.
 *
 * @throws WireError `bad_message` if it cannot be written as JSON.
 */
export function toBody(message: RpcMessage): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    const message = `the message cannot be written as JSON: ${errorMessage(cause)}`;
    throw new WireError("bad_message", message, { unsent: true }, { cause });
  }
}

/** Fairlead reads at most this many messages of a JSON-RPC batch. The protocol has had no batches since 2025-06-18. */
const batchLimit = 1000;

/** Returns the messages in a parsed body or event: one message, or the first 1,000 messages of a batch. */
export function messagesOf(parsed: unknown): readonly RpcMessage[] {
  if (isObject(parsed)) return [parsed];
  return Array.isArray(parsed) ? parsed.slice(0, batchLimit).filter(isObject) : [];
}

/** Where to deliver the messages of a response, and which request the response belongs to. */
export interface MessageReader {
  readonly events: ChannelEvents;
  readonly budget: ReadBudget;
  /** The id of the request whose response stream carries the messages. Undefined for a stream without a request. */
  readonly about?: number | undefined;
}

/** Delivers a message. If no open request expects the message, it counts toward the limit for unrequested output. */
export function takeMessage(message: RpcMessage, size: number, { events, budget, about }: MessageReader): void {
  const unsolicited = events.message(message, size, about);
  if (unsolicited !== undefined) budget.unsolicited(unsolicited, size, 1);
}

/** Returns the error for a response that is not a success: its JSON-RPC error if it has one, otherwise its status. */
export async function refusalOf(answer: HttpAnswer, maxBytes: number): Promise<WireError> {
  if (kindOf(answer) !== "json") return statusError(answer, await readStart(answer.body));
  const parsed = await readSizedJson(answer, Math.min(maxBytes, 1024 * 1024)).then(
    ({ value }) => value,
    (error: WireError) => error,
  );
  if (parsed instanceof WireError) return statusError(answer, parsed.evidence.firstBytes ?? "");
  const error = messagesOf(parsed).find((message) => isObject(message["error"]))?.["error"];
  if (!isObject(error)) return statusError(answer, excerpt(parsed, 512));
  const code = typeof error["code"] === "number" ? error["code"] : 0;
  const message = stringOf(error["message"]) ?? `HTTP ${answer.status}`;
  return new WireError("rpc", clip(redactSent(message, answer.sent)), {
    ...evidenceOf(answer),
    rpc: { code, data: error["data"] },
  });
}

/** Returns the error for a response whose status or content type cannot be used. */
export function statusError(answer: HttpAnswer, firstBytes: string): WireError {
  const type = contentTypeOf(answer);
  const what = type === "" ? "" : ` with ${clip(type, 100)}`;
  const code = answer.status >= 200 && answer.status < 300 ? "bad_message" : "http_status";
  const message = `the server answered with HTTP status ${answer.status}${what} instead of a JSON-RPC response`;
  return new WireError(code, message, { ...evidenceOf(answer), firstBytes: redactSent(firstBytes, answer.sent) });
}

/** Returns the first value of a header. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function evidenceOf(answer: HttpAnswer): WireEvidence {
  const contentType = contentTypeOf(answer) || undefined;
  return { httpStatus: answer.status, contentType, retryAfter: headerOf(answer, "retry-after") };
}

function contentTypeOf(answer: HttpAnswer): string {
  return (headerOf(answer, "content-type") ?? "").toLowerCase();
}
