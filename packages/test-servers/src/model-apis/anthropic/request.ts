/** The types of requests to Anthropic's messages API, and what a model reads in them. */

import type { Asked, CallResult } from "../script.ts";

export interface ContentBlock {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly ContentBlock[];
  readonly is_error?: boolean;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly source?: { readonly type?: string; readonly media_type?: string; readonly data?: string };
  readonly cache_control?: object;
}

export interface AnthropicMessage {
  readonly role?: string;
  readonly content?: string | readonly ContentBlock[];
}

export interface AnthropicTool {
  readonly name?: string;
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly cache_control?: object;
}

export interface AnthropicBody {
  readonly model?: string;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly system?: string | readonly ContentBlock[];
  readonly messages?: readonly AnthropicMessage[];
  readonly tools?: readonly AnthropicTool[];
}

export function blocksIn(content: string | readonly ContentBlock[] = []): readonly ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

export function blocksOf({ content }: AnthropicMessage): readonly ContentBlock[] {
  return blocksIn(content);
}

export function readAsked({ model = "", system, messages = [], tools = [] }: AnthropicBody): Asked {
  const start = messages.findLastIndex((message) => message.role === "user" && !isAnswer(message));
  return {
    model,
    system: textOf(blocksIn(system)),
    tools: tools.map(({ name = "" }) => name),
    said: textOf(blocksOf(messages[start] ?? {})),
    rounds: roundsOf(messages.slice(start + 1)),
  };
}

function roundsOf(messages: readonly AnthropicMessage[]): CallResult[][] {
  const names = new Map(
    messages.flatMap(blocksOf).flatMap(({ type, id = "", name = "" }) => (type === "tool_use" ? [[id, name]] : [])),
  );
  return messages.filter(isAnswer).map((message) =>
    blocksOf(message)
      .filter(({ type }) => type === "tool_result")
      .map(({ tool_use_id = "", content }) => ({
        name: names.get(tool_use_id) ?? "",
        result: textOf(blocksIn(content)),
        media: blocksIn(content).flatMap(({ source }) => source?.media_type ?? []),
      })),
  );
}

function isAnswer(message: AnthropicMessage): boolean {
  return blocksOf(message).some(({ type }) => type === "tool_result");
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap(({ text }) => text ?? []).join("\n");
}
