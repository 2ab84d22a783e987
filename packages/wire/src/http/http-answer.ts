/** Converts an HTTP response to JSON-RPC messages or to a `WireError`. */

import { WireError, type WireEvidence } from "../errors.ts";
import type { ChannelEvents, RpcMessage } from "../rpc/channel.ts";
import type { ReadBudget } from "../rpc/read-budget.ts";
import { decodeInSlices, decodePieces } from "../shapes/decode.ts";
import { excerpt, isObject, parseJson, stringOf } from "../shapes/json.ts";
import { parseLongJson } from "../shapes/long-json.ts";
import { longJson } from "../shapes/sliced-json.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import { type HttpAnswer, readStart, redactSent } from "./http-client.ts";

/** The kind of an HTTP response, according to its content type. */
export type AnswerKind = "json" | "events" | "empty" | "other";

/** Classifies a response by its headers. */
export function kindOf({ status, headers }: HttpAnswer): AnswerKind {
  const type = contentType(headers);
  if (type.startsWith("application/json")) return "json";
  if (type.startsWith("text/event-stream")) return "events";
  return status === 202 || status === 204 || headers["content-length"] === "0" ? "empty" : "other";
}

/**
 * Reads the complete body as JSON. Returns undefined if the body is empty.
 *
 * @throws WireError `bad_message` if it is not JSON.
 */
async function readJson(answer: HttpAnswer, maxBytes: number): Promise<unknown> {
  return (await readSizedJson(answer, maxBytes)).value;
}

/** Reads the complete body like `readJson`, and also returns its size in bytes. */
export async function readSizedJson(
  answer: HttpAnswer,
  maxBytes: number,
): Promise<{ readonly value: unknown; readonly size: number }> {
  const written = await readText(answer, maxBytes);
  const text = written.charCodeAt(0) === 0xfeff ? written.slice(1) : written;
  if (text === "") return { value: undefined, size: 0 };
  const value = await parseSliced(text);
  if (value !== undefined) return { value, size: Buffer.byteLength(text) };
  throw new WireError("bad_message", "the server's response has the content type JSON but is not JSON", {
    ...evidenceOf(answer),
    firstBytes: redactSent(text.slice(0, 512), answer.sent),
  });
}

/**
 * Parses the text, or returns undefined if it is not JSON. Parses a long text in steps, so that other events are not
 * blocked.
 *
 * @throws WireError `too_large` if the parsed values would take too much memory.
 */
function parseSliced(text: string): unknown {
  return text.length < longJson ? parseJson(text) : parseLongJson(text);
}

/** Uses event listeners, because `for await` would take several times as long as parsing a small response. */
function readText(answer: HttpAnswer, maxBytes: number): Promise<string> {
  const { body } = answer;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    body.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      reject(new WireError("too_large", `the server's response is larger than ${maxBytes} bytes`));
      body.destroy();
    });
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
    throw new WireError(
      "bad_message",
      `the message cannot be written as JSON: ${errorMessage(cause)}`,
      { unsent: true },
      { cause },
    );
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
  const evidence = evidenceOf(answer);
  if (kindOf(answer) !== "json") return statusError(answer, await readStart(answer.body));
  const parsed = await readJson(answer, Math.min(maxBytes, 1024 * 1024)).catch((error: WireError) => error);
  if (parsed instanceof WireError) return statusError(answer, parsed.evidence.firstBytes ?? "");
  const error = messagesOf(parsed).find((message) => isObject(message["error"]))?.["error"];
  if (!isObject(error)) return statusError(answer, excerpt(parsed, 512));
  const code = typeof error["code"] === "number" ? error["code"] : 0;
  const message = stringOf(error["message"]) ?? `HTTP ${answer.status}`;
  return new WireError("rpc", clip(redactSent(message, answer.sent)), {
    ...evidence,
    rpc: { code, data: error["data"] },
  });
}

/** Returns the error for a response whose status or content type cannot be used. */
export function statusError(answer: HttpAnswer, firstBytes: string): WireError {
  const type = contentType(answer.headers);
  const what = type === "" ? "" : ` with ${clip(type, 100)}`;
  const code = answer.status >= 200 && answer.status < 300 ? "bad_message" : "http_status";
  return new WireError(
    code,
    `the server answered with HTTP status ${answer.status}${what} instead of a JSON-RPC response`,
    {
      ...evidenceOf(answer),
      firstBytes: redactSent(firstBytes, answer.sent),
    },
  );
}

/** Returns the first value of a header. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function evidenceOf(answer: HttpAnswer): WireEvidence {
  const retryAfter = headerOf(answer, "retry-after");
  const type = contentType(answer.headers);
  return {
    httpStatus: answer.status,
    contentType: type === "" ? undefined : type,
    retryAfter,
  };
}

function contentType(headers: HttpAnswer["headers"]): string {
  const value = headers["content-type"];
  return (Array.isArray(value) ? (value[0] ?? "") : (value ?? "")).toLowerCase();
}
