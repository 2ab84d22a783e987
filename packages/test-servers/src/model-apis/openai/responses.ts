/** OpenAI's responses API, as far as Codex needs it for a loop with tools: every answer is a stream. */

import { type Reply, streamedReply } from "../reply.ts";
import type { Answering, CallResult } from "../script.ts";

interface ResponseItem {
  readonly type?: string;
  readonly role?: string;
  readonly name?: string;
  readonly call_id?: string;
  readonly output?: unknown;
  readonly content?: readonly { readonly text?: string }[];
}

/** A tool, or a namespace that contains tools. */
interface ResponseTool {
  readonly name?: string;
  readonly tools?: readonly ResponseTool[];
}

export interface ResponsesBody {
  readonly model?: string;
  readonly instructions?: string;
  readonly input?: readonly ResponseItem[];
  readonly tools?: readonly ResponseTool[];
}

/** Returns the model's answer. The model sees a tool in a namespace as `namespace.tool`. */
export function responsesReply(body: ResponsesBody, answer: Answering, nextId: () => string): Reply {
  const { model = "", instructions = "", input = [], tools = [] } = body;
  const callable = new Map<string, object>();
  for (const { name = "", tools: inner } of tools)
    if (inner === undefined) callable.set(name, { name });
    else for (const tool of inner) callable.set(`${name}.${tool.name}`, { name: tool.name, namespace: name });
  const start = input.findLastIndex(({ type, role }) => type === "message" && role === "user");
  const { pieces } = answer({
    model,
    system: instructions,
    tools: [...callable.keys()],
    said: (input[start]?.content ?? []).flatMap(({ text }) => text ?? []).join("\n"),
    rounds: roundsOf(input.slice(start + 1)),
  });
  const items = pieces.flatMap((piece): object[] => {
    if ("text" in piece)
      return [
        { type: "message", id: nextId(), role: "assistant", content: [{ type: "output_text", text: piece.text }] },
      ];
    if (!("call" in piece)) return [];
    const called = callable.get(piece.call) ?? { name: piece.call };
    const id = nextId();
    return [{ type: "function_call", id, call_id: id, ...called, arguments: JSON.stringify(piece.args ?? {}) }];
  });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return streamedReply([
    event("response.created", { response: { id: "response_1" } }),
    ...items.map((item, output_index) => event("response.output_item.done", { item, output_index })),
    event("response.completed", { response: { id: "response_1", output: items, usage } }),
  ]);
}

/** Each call has a round of its own. */
function roundsOf(items: readonly ResponseItem[]): CallResult[][] {
  const names = new Map(items.map(({ call_id, name }) => [call_id, name ?? ""]));
  return items
    .filter(({ type }) => type === "function_call_output")
    .map(({ call_id, output }) => [{ name: names.get(call_id) ?? "", result: output, media: [] }]);
}

function event(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
