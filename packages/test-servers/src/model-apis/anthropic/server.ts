/**
 * A replacement of Anthropic's messages API on its own port, as far as a loop with tools needs it: complete answers, no
 * streams.
 */

import type { IncomingHttpHeaders } from "node:http";
import { webServer } from "../../web-server.ts";
import { parseBody } from "../incoming.ts";
import { obedient } from "../obedient.ts";
import { type Reply, sendReply, wholeReply } from "../reply.ts";
import type { Answering, Asked, CallResult, ModelAnswer } from "../script.ts";
import { type AnthropicBody, type AnthropicMessage, blocksOf, type ContentBlock } from "./request.ts";
import { faultOf } from "./rules.ts";

export interface AnthropicSettings {
  /** Returns the model's answers. */
  answer: Answering;
  apiKey: string;
}

export interface AnthropicApi extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly baseUrl: string;
  readonly settings: AnthropicSettings;
  /** Every request so far, in order. */
  readonly seen: readonly AnthropicBody[];
}

export async function anthropicApi(changes: Partial<AnthropicSettings> = {}): Promise<AnthropicApi> {
  const settings: AnthropicSettings = { answer: obedient, apiKey: "test-key", ...changes };
  const seen: AnthropicBody[] = [];
  let ids = 0;
  const nextId = (): string => {
    ids += 1;
    return `toolu_${ids}`;
  };

  const web = await webServer((request, response) => {
    const body = parseBody<AnthropicBody>(request.body);
    if (body) seen.push(body);
    void sendReply(response, replyTo(`${request.method} ${request.path}`, request.headers, body));
  });

  function replyTo(endpoint: string, headers: IncomingHttpHeaders, body: AnthropicBody | undefined): Reply {
    if (endpoint !== "POST /v1/messages") return refuse(404, "not_found_error", "Not found");
    if (headers["x-api-key"] !== settings.apiKey) return refuse(401, "authentication_error", "invalid x-api-key");
    if (headers["anthropic-version"] === undefined)
      return refuse(400, "invalid_request_error", "anthropic-version: header is required");
    const fault = body ? faultOf(body) : "The request body is not valid JSON";
    if (!body || fault !== undefined) return refuse(400, "invalid_request_error", fault ?? "");
    return wholeReply(written(settings.answer(readAsked(body)), body, nextId));
  }

  return {
    baseUrl: web.origin,
    settings,
    seen,
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

function refuse(status: number, type: string, message: string): Reply {
  return wholeReply({ type: "error", error: { type, message } }, status);
}

function written({ pieces }: ModelAnswer, { model }: AnthropicBody, nextId: () => string): object {
  const content = pieces.flatMap((piece): object[] => {
    if ("text" in piece) return [{ type: "text", text: piece.text }];
    if ("call" in piece) return [{ type: "tool_use", id: nextId(), name: piece.call, input: piece.args ?? {} }];
    return [];
  });
  const called = pieces.some((piece) => "call" in piece);
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: called ? "tool_use" : "end_turn",
  };
}

function readAsked({ model = "", system = "", messages = [], tools = [] }: AnthropicBody): Asked {
  const start = messages.findLastIndex((message) => message.role === "user" && !isAnswer(message));
  return {
    model,
    system,
    tools: tools.map(({ name = "" }) => name),
    said: textOf(messages[start]),
    rounds: roundsOf(messages.slice(start + 1)),
  };
}

function roundsOf(messages: readonly AnthropicMessage[]): CallResult[][] {
  const names = new Map(
    messages.flatMap(blocksOf).flatMap(({ type, id = "", name = "" }) => (type === "tool_use" ? [[id, name]] : [])),
  );
  return messages.filter(isAnswer).map((message) =>
    blocksOf(message).map((block) => {
      const inner = typeof block.content === "string" ? [{ type: "text", text: block.content }] : (block.content ?? []);
      return {
        name: names.get(block.tool_use_id ?? "") ?? "",
        result: inner.flatMap(({ text }) => text ?? []).join("\n"),
        media: inner.flatMap(({ source }) => source?.media_type ?? []),
      };
    }),
  );
}

function isAnswer(message: AnthropicMessage): boolean {
  return blocksOf(message).some(({ type }) => type === "tool_result");
}

function textOf(message: AnthropicMessage | undefined): string {
  return message === undefined
    ? ""
    : blocksOf(message)
        .flatMap(({ text }: ContentBlock) => text ?? [])
        .join("\n");
}
