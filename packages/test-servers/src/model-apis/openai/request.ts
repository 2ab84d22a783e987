/** The types of requests to an OpenAI-compatible endpoint, and how a model reads them. */

import type { Asked, CallResult } from "../script.ts";

interface ToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface ContentPart {
  readonly type?: string;
  readonly text?: string;
  readonly image_url?: { readonly url?: string };
}

interface OpenaiMessage {
  readonly role?: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface OpenaiTool {
  readonly type?: string;
  readonly function?: {
    readonly name?: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
  };
}

export interface OpenaiBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages?: readonly OpenaiMessage[];
  readonly tools?: readonly OpenaiTool[];
}

export function readAsked({ model = "", messages = [], tools = [] }: OpenaiBody): Asked {
  const start = messages.findLastIndex((message, index) => message.role === "user" && !isAttachment(messages, index));
  return {
    model,
    system: messages
      .filter(({ role }) => role === "system" || role === "developer")
      .map(textOf)
      .join("\n"),
    tools: tools.map((tool) => tool.function?.name ?? ""),
    said: textOf(messages[start]),
    rounds: roundsOf(messages.slice(start + 1)),
  };
}

/**
 * Whether the message has the media of a result. Results themselves are text, so media follow in a separate user
 * message.
 */
function isAttachment(messages: readonly OpenaiMessage[], index: number): boolean {
  return messages[index - 1]?.role === "tool" && mediaOf(messages[index]).length > 0;
}

function roundsOf(messages: readonly OpenaiMessage[]): CallResult[][] {
  const rounds: CallResult[][] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id ?? "", call.function?.name ?? "");
    if (message.tool_calls?.length) rounds.push([]);
    const round = rounds.at(-1) ?? [];
    const name = names.get(message.tool_call_id ?? "") ?? "";
    if (message.role === "tool") round.push({ name, result: textOf(message), media: [] });
    // The media in a following user message count as media of the last result.
    const last = message.role === "user" ? round.pop() : undefined;
    if (last) round.push({ ...last, media: mediaOf(message) });
  }
  return rounds;
}

function textOf(message: OpenaiMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.flatMap(({ text }) => text ?? []).join("\n");
}

function mediaOf(message: OpenaiMessage | undefined): string[] {
  const content = message?.content ?? "";
  if (typeof content === "string") return [];
  return content.flatMap((part) => /^data:([^;,]+)/.exec(part.image_url?.url ?? "")?.[1] ?? []);
}
