/** Converts the events of an OpenAI-compatible endpoint to events of a model. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, textIn } from "@fairlead/wire/json";
import type { Content, Part } from "../../normalise/model-types.ts";
import type { FinishReason, ModelCall, ModelEvent } from "../model.ts";
import { createCallAssembly } from "./openai-calls.ts";
import type { NameMap } from "./openai-names.ts";

/** One answer of an endpoint. */
export interface OpenaiAnswer {
  /** Takes a chunk and returns its events. */
  take(chunk: JsonObject): readonly ModelEvent[];
  /** Returns the last events; undefined if the answer is incomplete. */
  end(saysDone: boolean): readonly ModelEvent[] | undefined;
}

type Finish = Omit<ModelEvent & { readonly type: "finish" }, "type" | "content">;

/** Starts a new answer. */
export function createOpenaiAnswer({ toOurs }: NameMap): OpenaiAnswer {
  const assembly = createCallAssembly();
  const said = { text: "", thought: "" };
  let usage: ModelEvent[] = [];
  let reason: string | undefined;
  let hasChoice = false;

  function tell(type: "text" | "thought", text: string | undefined): ModelEvent[] {
    if (text === undefined) return [];
    said[type] += text;
    return [{ type, text }];
  }

  return {
    take(chunk) {
      usage = toUsage(chunk["usage"]) ?? usage;
      const choices: unknown = chunk["choices"];
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      if (!isObject(choice)) return [];
      hasChoice = true;
      reason = textIn(choice, "finish_reason") ?? reason;
      // An endpoint that does not stream sends the whole message.
      const delta = [choice["delta"], choice["message"]].find(isObject) ?? {};
      assembly.add(delta["tool_calls"]);
      const refusal = textIn(delta, "refusal");
      if (refusal !== undefined) reason = "content_filter";
      return [
        ...tell("thought", textIn(delta, "reasoning_content") ?? textIn(delta, "reasoning")),
        ...tell("text", textIn(delta, "content")),
        ...tell("text", refusal),
      ];
    },
    end(saysDone) {
      if (reason === undefined && !(saysDone && hasChoice)) return undefined;
      const { calls, mistake } = assembly.end();
      const hasContent = said.text !== "" || calls.length > 0;
      const finish = toFinish(reason ?? "stop", mistake, hasContent);
      const isUsable = finish.reason !== "safety" && finish.reason !== "malformed_call";
      const ours = isUsable ? calls.map((call) => ({ ...call, name: toOurs(call.name) })) : [];
      return [
        ...ours.map((call): ModelEvent => ({ type: "call", call })),
        ...usage,
        { type: "finish", ...finish, content: toContent(said, ours) },
      ];
    },
  };
}

function toContent(said: { readonly text: string; readonly thought: string }, calls: readonly ModelCall[]): Content {
  const parts: Part[] = [];
  if (said.thought !== "") parts.push({ text: said.thought, thought: true });
  if (said.text !== "") parts.push({ text: said.text });
  return { role: "model", parts: [...parts, ...calls.map((call) => ({ functionCall: { ...call } }))] };
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["tool_calls", "stop"],
  ["length", "length"],
  ["content_filter", "safety"],
]);

/**
 * A call that was cut off is not the model's mistake. An answer with content counts as complete, whatever reason the
 * endpoint gives.
 */
function toFinish(given: string, mistake: string | undefined, hasContent: boolean): Finish {
  const reason = reasons.get(given) ?? (hasContent ? "stop" : "other");
  if (mistake !== undefined && reason !== "length" && reason !== "safety")
    return { reason: "malformed_call", message: mistake };
  return reason === "stop" ? { reason } : { reason, message: `the answer ended early (${given})` };
}

function toUsage(given: unknown): ModelEvent[] | undefined {
  if (!isObject(given)) return undefined;
  const count = (value: unknown): number => (typeof value === "number" ? value : 0);
  const details = given["prompt_tokens_details"];
  const cached = isObject(details) ? details["cached_tokens"] : undefined;
  return [
    {
      type: "usage",
      inputTokens: count(given["prompt_tokens"]),
      outputTokens: count(given["completion_tokens"]),
      ...(typeof cached === "number" && { cachedTokens: cached }),
    },
  ];
}
