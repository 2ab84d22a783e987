/** From an HTTP answer to JSON-RPC messages, or to the error it amounts to. */

import { WireError, type WireEvidence } from "../errors.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import { excerpt, isObject, stringOf } from "../shapes/json.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import { type HttpAnswer, readStart, redactSent } from "./http-client.ts";

export type AnswerKind = "json" | "events" | "empty" | "other";

export function kindOf({ status, headers }: HttpAnswer): AnswerKind {
  const type = contentType(headers);
  if (type.startsWith("application/json")) return "json";
  if (type.startsWith("text/event-stream")) return "events";
  return status === 202 || status === 204 || headers["content-length"] === "0" ? "empty" : "other";
}

/** The whole body as JSON; an empty one is `undefined`. */
export async function readJson(answer: HttpAnswer, maxBytes: number): Promise<unknown> {
  const text = (await readText(answer, maxBytes)).replace(/^\ufeff/, "");
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new WireError(
      "bad_message",
      "the server's answer says it is JSON, but is not",
      { ...evidenceOf(answer), firstBytes: redactSent(text.slice(0, 512), answer.sent) },
      { cause },
    );
  }
}

/** With listeners: `for await` over a body costs as much as parsing a small answer, several times over. */
function readText(answer: HttpAnswer, maxBytes: number): Promise<string> {
  const { body } = answer;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    body.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      reject(new WireError("too_large", `the server's answer is larger than ${maxBytes} bytes`));
      body.destroy();
    });
    body.on("end", () => resolve(Buffer.concat(chunks, size).toString("utf8")));
    const cut = (cause?: Error): void =>
      reject(
        cause instanceof WireError
          ? cause
          : new WireError("stream_lost", "the server's answer was cut", evidenceOf(answer), { cause }),
      );
    body.on("error", cut);
    body.on("close", () => {
      if (!body.readableEnded) cut();
    });
  });
}

/** A message as a body. */
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

/** Messages in a body or an event: one, a batch, or none that make sense. */
export function messagesOf(parsed: unknown): readonly RpcMessage[] {
  return [parsed].flat().filter(isObject);
}

/** A refusal: the JSON-RPC error in its body when there is one, else the status with the first bytes. */
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
    rpc: { code, ...(error["data"] === undefined ? {} : { data: error["data"] }) },
  });
}

/** Whether the server says that it has no time for the request, and when to come back. */
export function isRetryLater(answer: HttpAnswer): boolean {
  return (answer.status === 429 || answer.status === 503) && headerOf(answer, "retry-after") !== undefined;
}

export function statusError(answer: HttpAnswer, firstBytes: string): WireError {
  const type = contentType(answer.headers);
  const what = type === "" ? "" : ` with ${clip(type, 100)}`;
  const code = answer.status >= 200 && answer.status < 300 ? "bad_message" : "http_status";
  return new WireError(code, `the server answered ${answer.status}${what}, which is no answer to a request`, {
    ...evidenceOf(answer),
    firstBytes: redactSent(firstBytes, answer.sent),
  });
}

export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function evidenceOf(answer: HttpAnswer): WireEvidence {
  const retryAfter = headerOf(answer, "retry-after");
  const type = contentType(answer.headers);
  return {
    httpStatus: answer.status,
    ...(type === "" ? {} : { contentType: type }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function contentType(headers: HttpAnswer["headers"]): string {
  const value = headers["content-type"];
  return (Array.isArray(value) ? (value[0] ?? "") : (value ?? "")).toLowerCase();
}
